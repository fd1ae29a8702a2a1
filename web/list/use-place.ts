import { useEffect, useRef } from "preact/hooks";

import { keepTop, keptTop } from "../route.ts";
import type { ListSource } from "./source.ts";

/**
 * Brings a reader who comes back to the list, or loads it again, to where it was left, and reads it that far first. A
 * reader who scrolls meanwhile stays there.
 */
export function usePlace(source: ListSource): void {
  /** Pixels from the top, of the page and as wanted; null once it is there. */
  const wanted = useRef<{ readonly from: number; readonly to: number } | null>(null);
  useEffect(() => {
    // the browser would do it before there are any rows
    history.scrollRestoration = "manual";
    wanted.current = { from: scrollY, to: keptTop() };
    addEventListener("pagehide", keepTop);
    return () => {
      history.scrollRestoration = "auto";
      removeEventListener("pagehide", keepTop);
    };
  }, []);
  useEffect(() => {
    const { current } = wanted;
    if (current === null || !source.hasBegun.value || source.isReading.value) {
      return;
    }
    const isFarEnough =
      document.documentElement.scrollHeight >= current.to + innerHeight ||
      source.isComplete.value ||
      source.problem.value !== null;
    if (current.to > 0 && scrollY === current.from && !isFarEnough) {
      void source.readMore();
      return;
    }
    wanted.current = null;
    if (current.to > 0 && scrollY === current.from) {
      scrollTo({ top: current.to, behavior: "instant" });
    }
  });
}
