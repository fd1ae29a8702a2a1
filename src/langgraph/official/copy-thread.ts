import { RepriseError } from "../../core/errors.ts";
import { DELETE_IN_TARGET, targetHasThread } from "../../store/checkpoints/free-threads.ts";
import { type CheckpointName, readThreadNames } from "../../store/checkpoints/thread-names.ts";
import { deleteThread } from "../../store/checkpoints/threads.ts";
import type { Operation, Store } from "../../store/store.ts";
import { createSeenMessages } from "./decode-official.ts";
import { type OfficialState, readState } from "./read-state.ts";
import type { OfficialThread } from "./source.ts";
import { compareStates, storeStates } from "./store-states.ts";

export interface CopiedThread {
  /** `present` if nothing had to be stored. */
  readonly outcome: "copied" | "present";
  readonly checkpoints: number;
}

/** Checkpoints of one transaction, and what they may take in the source, in bytes. */
const BATCH = { checkpoints: 64, bytes: 8 * 1024 * 1024 };

/**
 * Takes a thread of an official saver to a store, checkpoint by checkpoint in the order in which the
 * saver lists them, so that both have the same latest one. What the store has of it already is
 * compared; if the rest is missing, it is added. A batch is in memory at a time.
 *
 * Error codes: as `storeStates` and `readState`. A thread that the store did not have before is
 * deleted again then.
 */
export async function copyThread(input: {
  readonly thread_id: string;
  readonly thread: OfficialThread;
  readonly target: Store;
  /** Called after each batch with the checkpoints so far. */
  readonly onProgress: (checkpoints: number) => void;
}): Promise<CopiedThread> {
  const { thread_id, thread, target } = input;
  const { names } = thread;
  const present = await target.read(readThreadNames, thread_id);
  requirePrefix(present, names);
  try {
    let outcome: CopiedThread["outcome"] = "present";
    let at = 0;
    for await (const states of batchesOf(thread)) {
      const left = Math.max(0, present.length - at);
      const isWhole =
        left >= states.length && (await target.read(compareStates, { thread_id, states }));
      if (!isWhole) {
        await target.write(storeStates, { thread_id, states, present: left });
        outcome = "copied";
      }
      at += states.length;
      input.onProgress(at);
    }
    await requireSame(target, thread_id, names);
    return { outcome, checkpoints: names.length };
  } catch (error) {
    if (present.length === 0) {
      await target.write(deleteCopied, { thread_id, names });
    }
    throw error;
  }
}

async function* batchesOf(thread: OfficialThread): AsyncGenerator<readonly OfficialState[]> {
  const seen = createSeenMessages();
  let batch: OfficialState[] = [];
  let bytes = 0;
  for (const name of thread.names) {
    const state = await readState(thread, name, seen);
    if (batch.length > 0 && bytes + state.size > BATCH.bytes) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(state);
    bytes += state.size;
    if (batch.length === BATCH.checkpoints) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
  }
  if (batch.length > 0) {
    yield batch;
  }
}

/** What an interrupted copy left is the beginning of the thread. Error codes: `thread_exists`. */
function requirePrefix(present: readonly CheckpointName[], names: readonly CheckpointName[]): void {
  if (!isPrefix(present, names)) {
    throw targetHasThread();
  }
}

/** Another program may have used the thread meanwhile. Error codes: `thread_exists`. */
async function requireSame(
  target: Store,
  threadId: string,
  names: readonly CheckpointName[],
): Promise<void> {
  const stored = await target.read(readThreadNames, threadId);
  if (stored.length !== names.length || !isPrefix(stored, names)) {
    throw new RepriseError(
      "thread_exists",
      `Another program wrote to this thread in the target while it was copied. Delete it in the target (${DELETE_IN_TARGET}) and copy again.`,
    );
  }
}

/** Deletes what was copied of a thread, unless others have written to it. */
const deleteCopied: Operation<
  { readonly thread_id: string; readonly names: readonly CheckpointName[] },
  void
> = async (tx, { thread_id, names }) => {
  const stored = await readThreadNames(tx, thread_id);
  if (stored.length > 0 && isPrefix(stored, names)) {
    await deleteThread(tx, { thread_id, fence: null });
  }
};

function isPrefix(some: readonly CheckpointName[], all: readonly CheckpointName[]): boolean {
  return some.every(
    ({ ns, checkpoint_id }, index) =>
      ns === all[index]?.ns && checkpoint_id === all[index].checkpoint_id,
  );
}
