import type { TargetedKeyboardEvent } from "preact";

interface Moves {
  readonly first: number;
  readonly last: number;
  /** The first and the last message in view. */
  readonly inView: { readonly from: number; readonly to: number };
  show(seq: number): void;
  isHidden(seq: number): boolean;
  toEnd(): void;
}

/** `j` and `k` go to the message after and before, Home and End to the first and the last, Enter opens its calls. */
export function moveInTranscript(
  event: TargetedKeyboardEvent<HTMLElement>,
  { first, last, inView, show, isHidden, toEnd }: Moves,
): void {
  const { key, target } = event;
  const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
  if (!isPlain || !(target instanceof HTMLElement) || target.matches("input, textarea, select")) {
    return;
  }
  const at = Number(target.closest<HTMLElement>("[data-seq]")?.dataset["seq"] ?? Number.NaN);
  const step = (by: 1 | -1): void => {
    let next = Number.isNaN(at) ? (by > 0 ? inView.from : inView.to) : at + by;
    while (next > first && next < last && isHidden(next)) {
      next += by;
    }
    show(next);
  };
  if (key === "j" || (key === "ArrowDown" && event.shiftKey)) {
    step(1);
  } else if (key === "k" || (key === "ArrowUp" && event.shiftKey)) {
    step(-1);
  } else if (key === "Home") {
    show(first);
  } else if (key === "End") {
    toEnd();
  } else if (key === "Enter" && target.matches("[data-seq]")) {
    target.querySelector<HTMLElement>("summary")?.click();
  } else {
    return;
  }
  event.preventDefault();
}
