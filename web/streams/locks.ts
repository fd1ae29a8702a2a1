/** Locks that the tabs of a browser profile share: one tab at a time holds a name. */
export interface Locks {
  /** Waits for its turn. Throws the signal's reason if it is aborted before. */
  hold(name: string, signal: AbortSignal): Promise<Held>;
  /** Takes the lock from a tab that does nothing any more. */
  steal(name: string, signal: AbortSignal): Promise<Held>;
}

/** A tab that is closed or crashes loses what it holds by itself. */
export interface Held {
  /** Aborted when another tab took the lock. */
  readonly lost: AbortSignal;
  release(): void;
}

/** What is used of `navigator.locks`. */
export interface LockManagerLike {
  request(
    name: string,
    options: { signal: AbortSignal } | { steal: true },
    callback: () => Promise<void>,
  ): Promise<unknown>;
}

/** The browser's own locks: it has them in secure contexts. */
export function browserLocks(manager: LockManagerLike): Locks {
  const request = (
    name: string,
    options: Parameters<LockManagerLike["request"]>[1],
  ): Promise<Held> => {
    const held = Promise.withResolvers<Held>();
    const released = Promise.withResolvers<void>();
    const lost = new AbortController();
    manager
      .request(name, options, () => {
        held.resolve({ lost: lost.signal, release: () => released.resolve() });
        return released.promise;
      })
      .catch((error: unknown) => {
        held.reject(error);
        lost.abort(error);
      });
    return held.promise;
  };
  return {
    hold: (name, signal) => request(name, { signal }),
    steal: async (name, signal) => {
      signal.throwIfAborted();
      const held = await request(name, { steal: true });
      if (signal.aborted) {
        held.release();
      }
      signal.throwIfAborted();
      return held;
    },
  };
}

/** Whichever of the locks is free first. */
export async function holdOneOf(
  locks: Locks,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Held> {
  const others = new AbortController();
  const either = AbortSignal.any([signal, others.signal]);
  let first: Held | null = null;
  const attempts = names.map(async (name) => {
    const held = await locks.hold(name, either);
    if (first !== null) {
      held.release();
      throw new Error("another one was free before");
    }
    first = held;
    return held;
  });
  try {
    return await Promise.any(attempts);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    others.abort();
  }
}
