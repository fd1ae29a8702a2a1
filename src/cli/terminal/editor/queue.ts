import { ChangeCounter } from "../../../core/change-counter.ts";
import type { InputEvent } from "../../chat/front.ts";

type Line = Extract<InputEvent, { readonly kind: "line" }>;

/** Messages that a person has sent and that were not asked for yet, in order. */
export interface Queue {
  push(event: InputEvent): void;
  /** Waits for the first one. `end` once `leaving` is aborted; `news` once that is. */
  next(leaving: AbortSignal, news?: AbortSignal): Promise<InputEvent>;
  messages(): readonly Line[];
  /** Takes the last message back; null if there is none. */
  takeLast(): Line | null;
  /** Takes every message back. */
  takeAll(): readonly Line[];
}

export function createQueue(changed: () => void): Queue {
  const events: InputEvent[] = [];
  const pushed = new ChangeCounter();
  const messages = (): Line[] => events.filter((event) => event.kind === "line");
  return {
    push: (event) => {
      events.push(event);
      pushed.add();
      changed();
    },
    next: async (leaving, news) => {
      const over = news === undefined ? leaving : AbortSignal.any([leaving, news]);
      while (events.length === 0 && !over.aborted) {
        await pushed.changed(pushed.count, over);
      }
      const [event] = events;
      if (leaving.aborted || event?.kind === "end") {
        return { kind: "end" };
      }
      if (event === undefined) {
        return { kind: "news" };
      }
      events.shift();
      changed();
      return event;
    },
    messages,
    takeLast: () => {
      const last = messages().at(-1) ?? null;
      if (last !== null) {
        events.splice(events.indexOf(last), 1);
        changed();
      }
      return last;
    },
    takeAll: () => {
      const all = messages();
      events.splice(0, events.length, ...events.filter((event) => event.kind !== "line"));
      changed();
      return all;
    },
  };
}
