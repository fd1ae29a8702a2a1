import type { SessionModel } from "../model.ts";
import type { Card } from "./card.ts";

/** Which cards are open: those of work that runs or has no answer, and those that a reader opened. */
export interface OpenCards {
  readonly isOpen: (card: Card) => boolean;
  toggle(card: Card | null): void;
  /** Leaves one open that would be closed now. */
  keepOpen(card: Card): void;
  /** Opens one for a message in it. */
  reveal(card: Card | null): void;
}

/** `worked` is the first message of the work that runs now; null if none runs. */
export function createOpenCards({ opened }: SessionModel, worked: number | null): OpenCards {
  const isOpen = ({ first, hasAnswer }: Card): boolean =>
    opened.value.has(`steps ${first}`) ||
    ((!hasAnswer || first === worked) && !opened.value.has(`closed ${first}`));
  const set = ({ first }: Card, open: boolean): void => {
    const next = new Set(opened.peek());
    next.delete(`${open ? "closed" : "steps"} ${first}`);
    next.add(`${open ? "steps" : "closed"} ${first}`);
    opened.value = next;
  };
  return {
    isOpen,
    toggle: (card) => card !== null && set(card, !isOpen(card)),
    keepOpen: (card) => set(card, true),
    reveal: (card) => card !== null && !isOpen(card) && set(card, true),
  };
}
