/** Locks that the tabs of a browser profile share: one tab at a time holds a name. */
export interface Locks {
  /** Waits for its turn. Throws the signal's reason if it is aborted before. */
  hold(name: string, signal: AbortSignal): Promise<Held>;
}

/** A tab that is closed or crashes loses what it holds by itself. */
export interface Held {
  /** Aborted if another tab has the lock, too: only without the browser's own locks. */
  readonly lost: AbortSignal;
  release(): void;
}

/** What is used of `navigator.locks`. */
export interface LockManagerLike {
  request(
    name: string,
    options: { signal: AbortSignal },
    callback: () => Promise<void>,
  ): Promise<unknown>;
}

const NEVER = new AbortController().signal;

/** The browser's own locks: it has them in secure contexts. */
export function browserLocks(manager: LockManagerLike): Locks {
  return {
    hold: (name, signal) => {
      const held = Promise.withResolvers<Held>();
      const released = Promise.withResolvers<void>();
      manager
        .request(name, { signal }, () => {
          held.resolve({ lost: NEVER, release: () => released.resolve() });
          return released.promise;
        })
        .catch(held.reject);
      return held.promise;
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
