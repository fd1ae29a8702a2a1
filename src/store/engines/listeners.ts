import { throwUncaught } from "../../core/uncaught.ts";
import type { CommitListener, Store } from "../store.ts";

/** Listeners to commits. */
export interface Listeners {
  readonly add: Store["onCommit"];
  readonly notify: CommitListener;
}

export function createListeners(): Listeners {
  const listeners = new Set<{ readonly listener: CommitListener }>();
  return {
    add: (listener) => {
      const entry = { listener };
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
      };
    },
    notify: (sessionIds) => {
      for (const { listener } of listeners) {
        try {
          listener(sessionIds);
        } catch (error) {
          throwUncaught(error);
        }
      }
    },
  };
}
