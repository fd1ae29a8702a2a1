import type { CommitListener, Store } from "../store.ts";

/** Those who asked to hear of commits. */
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
          // as with Node's EventTarget: the others still hear of it, and the mistake is not hidden
          process.nextTick(() => {
            throw error;
          });
        }
      }
    },
  };
}
