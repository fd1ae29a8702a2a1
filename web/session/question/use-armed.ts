import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * So long has a button to be in view, at the same place, before it counts: a click that was on its way when it came,
 * or that was meant for what was there before, does nothing.
 */
const ARMED_MS = 400;

export interface Armed {
  /** True while the element has been in view for 400 ms at the same position, in a tab that is in view. */
  readonly isArmed: boolean;
  /** The same at the moment of an event: what moved since the last frame is not armed any more. */
  isArmedNow(): boolean;
}

export function useArmed(element: RefObject<Element | null>): Armed {
  const isArmed = useSignal(false);
  const hasMoved = useRef((): boolean => false);
  useEffect(() => {
    const { current } = element;
    if (current === null) {
      return undefined;
    }
    let isInView = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;
    let place = placeOf(current);
    const judge = (): void => {
      clearTimeout(timer);
      isArmed.value = false;
      if (isInView && document.visibilityState === "visible") {
        timer = setTimeout(() => {
          isArmed.value = true;
        }, ARMED_MS);
      }
    };
    hasMoved.current = () => {
      const next = placeOf(current);
      const isMoved = next !== place;
      place = next;
      if (isMoved) {
        judge();
      }
      return isMoved;
    };
    const watch = (): void => {
      cancelAnimationFrame(frame);
      if (isInView) {
        hasMoved.current();
        frame = requestAnimationFrame(watch);
      }
    };
    // a part is enough, for a low window shows no more: what comes into view later has moved
    const observer = new IntersectionObserver((entries) => {
      isInView = entries.at(-1)?.isIntersecting ?? false;
      judge();
      watch();
    });
    observer.observe(current);
    document.addEventListener("visibilitychange", judge);
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      observer.disconnect();
      document.removeEventListener("visibilitychange", judge);
    };
  }, []);
  return {
    isArmed: isArmed.value,
    isArmedNow: () => !hasMoved.current() && isArmed.peek(),
  };
}

/** In whole pixels of the screen; another place while a dialog or a menu may cover it. */
function placeOf(element: Element): string {
  const { left, top } = element.getBoundingClientRect();
  // a phone moves the screen over the page, for its keyboard or for two fingers
  const { offsetLeft = 0, offsetTop = 0, scale = 1 } = window.visualViewport ?? {};
  const isCovered = document.querySelector("dialog[open], .menu[open]") !== null;
  const place = [left - offsetLeft, top - offsetTop].map(Math.round);
  return `${place.join(" ")} ${scale} ${isCovered}`;
}
