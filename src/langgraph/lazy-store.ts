import { RepriseError } from "../core/errors.ts";
import { requireLocation } from "../store/location.ts";
import { openStore } from "../store/open-store.ts";
import type { Store, StoreOptions } from "../store/store.ts";

/** A store that is opened when it is first used. */
export interface LazyStore {
  /**
   * Works with the store, which is opened once for all that ask at the same time. If that fails, the
   * next call tries again. Once it is open, the work begins within the call.
   *
   * Error codes: as `openStore`; `shutting_down` after `end`.
   */
  use<Output>(work: (store: Store) => Promise<Output>): Promise<Output>;
  /** Refuses later calls, waits for those that run, and closes what this opened. Idempotent. */
  end(): Promise<void>;
}

/** A database that is opened here, and closed at the end. */
export function lazyStore(options: StoreOptions): LazyStore {
  let opened: Store | null = null;
  let opening: Promise<Store> | null = null;
  const open = async (): Promise<Store> =>
    (opened = await openStore({ ...options, location: requireLocation(options.location) }));
  const forgetFailure = (error: unknown): never => {
    opening = null;
    throw error;
  };
  return endingOnce(
    () => opened ?? (opening ??= open().catch(forgetFailure)),
    async () => {
      const store = await opening;
      await store?.close();
    },
  );
}

/** A store that somebody else opened, and closes. */
export function givenStore(store: Store): LazyStore {
  return endingOnce(
    () => store,
    () => Promise.resolve(),
  );
}

function endingOnce(open: () => Store | Promise<Store>, close: () => Promise<void>): LazyStore {
  const running = new Set<Promise<unknown>>();
  let ending: Promise<void> | null = null;
  return {
    use: async (work) => {
      if (ending !== null) {
        throw new RepriseError(
          "shutting_down",
          "This saver was ended. Make a new RepriseSaver to use the database again.",
        );
      }
      const store = open();
      const call = store instanceof Promise ? store.then(work) : work(store);
      running.add(call);
      try {
        return await call;
      } finally {
        running.delete(call);
      }
    },
    end: () => (ending ??= Promise.allSettled(running).then(close)),
  };
}
