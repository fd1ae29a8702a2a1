import { setImmediate as nextTurn } from "node:timers/promises";

import type { Operation, Store } from "../store/store.ts";

interface QueuedWrite {
  readonly operation: Operation<null, () => void>;
  reject(error: unknown): void;
}

/**
 * Writes of one exchange, in the order of the calls: those that come in one turn of the event loop
 * go into one transaction, as a checkpoint and what its tasks wrote do. If it fails, each is
 * written alone, so that one cannot spoil another.
 */
export function createWriteQueue(store: Pick<Store, "write">): Store["write"] {
  let queue: QueuedWrite[] = [];
  let running: Promise<void> | null = null;

  const writeAll = async (batch: readonly QueuedWrite[]): Promise<void> => {
    try {
      for (const answer of await store.write(runAll, batch)) {
        answer();
      }
    } catch (error) {
      for (const one of batch) {
        await (batch.length === 1 ? one.reject(error) : writeAll([one]));
      }
    }
  };

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      await nextTurn();
      const batch = queue;
      queue = [];
      await writeAll(batch);
    }
    running = null;
  };

  return (operation, input) =>
    new Promise((resolve, reject) => {
      queue.push({
        operation: async (tx) => {
          const output = await operation(tx, input);
          return () => resolve(output);
        },
        reject,
      });
      running ??= drain();
    });
}

const runAll: Operation<readonly QueuedWrite[], (() => void)[]> = async (tx, batch) => {
  const answers: (() => void)[] = [];
  for (const { operation } of batch) {
    answers.push(await operation(tx, null));
  }
  return answers;
};
