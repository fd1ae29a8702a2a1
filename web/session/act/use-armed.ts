import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** So long has a button to be in view before it counts: a click that was on its way when it came does nothing. */
const ARMED_MS = 400;

/** True while an element has been in view for 400 ms, in a tab that is in view. */
export function useArmed(element: RefObject<Element | null>): boolean {
  const isArmed = useSignal(false);
  useEffect(() => {
    const { current } = element;
    if (current === null) {
      return undefined;
    }
    let isInView = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const judge = (): void => {
      clearTimeout(timer);
      if (isInView && document.visibilityState === "visible") {
        timer = setTimeout(() => {
          isArmed.value = true;
        }, ARMED_MS);
      } else {
        isArmed.value = false;
      }
    };
    const observer = new IntersectionObserver(
      ([entry]) => {
        isInView = entry?.isIntersecting ?? false;
        judge();
      },
      { threshold: 0.5 },
    );
    observer.observe(current);
    document.addEventListener("visibilitychange", judge);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("visibilitychange", judge);
    };
  }, []);
  return isArmed.value;
}
