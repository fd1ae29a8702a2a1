import { useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Part of a last line that has to be in view, for browsers round. */
const IN_VIEW = 0.8;
/** A browser that scrolls smoothly may report a ratio just below the one that it passes, so it reports several. */
const REPORTED = [IN_VIEW, 0.9, 1];

/** "unknown" until the browser has said what is in view, so that no hint flashes beside what fits. */
export type Seen = "unknown" | "unseen" | "seen";

/** Covers the last line of the element that it is in, which must be positioned. */
export function PartEnd(): JSX.Element {
  return <span class="part-end" />;
}

/**
 * Whether the last line of each part of an element was in view. `isWhole` is false while lines of it are collapsed:
 * nothing was seen to its end then.
 */
export function useSeen(element: RefObject<Element | null>, isWhole: boolean): Seen {
  const seen = useSignal<Seen>("unknown");
  const known = useRef(new WeakSet<Element>());
  useEffect(() => {
    const ends = [...(element.current?.querySelectorAll(".part-end") ?? [])];
    return watch(ends, (inView) => {
      for (const end of inView) {
        known.current.add(end);
      }
      seen.value = isWhole && ends.every((end) => known.current.has(end)) ? "seen" : "unseen";
    });
  }, [isWhole]);
  return seen.value;
}

/** Reports which of the elements are in view, at first and whenever that changes. The returned function ends it. */
function watch(
  elements: readonly Element[],
  report: (inView: readonly Element[]) => void,
): () => void {
  const inWindow = new Set<Element>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, intersectionRatio } of entries) {
        if (intersectionRatio < IN_VIEW) {
          inWindow.delete(target);
        } else {
          inWindow.add(target);
        }
      }
      // where they were when the browser looked: who scrolls fast has moved them since
      const inView = entries.filter(
        ({ target, boundingClientRect }) => inWindow.has(target) && isOnScreen(boundingClientRect),
      );
      report(inView.map(({ target }) => target));
    },
    { threshold: REPORTED },
  );
  for (const element of elements) {
    observer.observe(element);
  }
  const controller = new AbortController();
  for (const event of ["resize", "scroll"]) {
    window.visualViewport?.addEventListener(
      event,
      () => report([...inWindow].filter((each) => isOnScreen(each.getBoundingClientRect()))),
      { signal: controller.signal },
    );
  }
  return () => {
    observer.disconnect();
    controller.abort();
  };
}

/** False for what is in the window, but below a phone's keyboard or beyond what two fingers have enlarged. */
function isOnScreen({ top, height }: DOMRectReadOnly): boolean {
  const { visualViewport } = window;
  if (visualViewport === null) {
    return true;
  }
  const middle = top + height / 2 - visualViewport.offsetTop;
  return middle >= 0 && middle <= visualViewport.height;
}
