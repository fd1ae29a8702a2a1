import { isInside } from "../../workspace/files/real-path.ts";

interface Turn {
  readonly folder: string;
  readonly done: Promise<void>;
}

/**
 * Gives turns, one at a time for a folder and all folders in and above it, in the order of the calls; the result
 * ends a turn. Rejects with the reason of the signal once that is aborted while others have their turn.
 */
export function createTurns(): (folder: string, signal?: AbortSignal) => Promise<() => void> {
  const turns = new Set<Turn>();
  return async (folder, signal) => {
    const before = Promise.all(
      [...turns]
        .filter((turn) => isInside(turn.folder, folder) || isInside(folder, turn.folder))
        .map(({ done }) => done),
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    const turn = { folder, done: promise };
    turns.add(turn);
    const release = (): void => {
      turns.delete(turn);
      resolve();
    };
    try {
      await withSignal(before, signal);
    } catch (error) {
      // the next one waits for those before this one all the same
      void before.then(release);
      throw error;
    }
    return release;
  };
}

async function withSignal(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
