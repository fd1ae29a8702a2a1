import { changedInTarget, targetHasThread } from "../../store/records/threads/free-threads.ts";
import {
  type CheckpointName,
  isSameName,
  readThreadNames,
} from "../../store/checkpoints/threads/thread-names.ts";
import type { Store } from "../../store/store.ts";
import { createSeenMessages } from "./decode-official.ts";
import { type OfficialState, readState } from "./read-state.ts";
import type { OfficialThread } from "./source.ts";
import {
  compareStates,
  deleteOwnThread,
  type OwnThread,
  type StoredStates,
  storeStates,
} from "./store-states.ts";

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
 * Several copies of a thread at the same time complete it together.
 *
 * Error codes: as `storeStates` and `readState`. A thread that this call alone has stored is deleted
 * again then.
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
  let outcome: CopiedThread["outcome"] = "present";
  let own: OwnThread | null = null;
  let at = 0;
  try {
    for await (const states of batchesOf(thread)) {
      const isThere = present.length >= at + states.length;
      if (!isThere || !(await target.read(compareStates, { thread_id, states }))) {
        const stored = await target.write(storeStates, { thread_id, names, states, at });
        outcome = isThere || stored.added > 0 ? "copied" : outcome;
        own = ownAfter(own, { thread_id, ...stored });
      }
      at += states.length;
      input.onProgress(at);
    }
  } catch (error) {
    if (own !== null) {
      await target.write(deleteOwnThread, own);
    }
    throw error;
  }
  await requireSame(target, thread_id, names);
  return { outcome, checkpoints: names.length };
}

/** Null if others have a share in the thread. */
function ownAfter(
  own: OwnThread | null,
  { thread_id, thread, created, added }: StoredStates & { readonly thread_id: string },
): OwnThread | null {
  const before = created ? 0 : own?.checkpoints;
  return before === undefined ? null : { thread_id, thread, checkpoints: before + added };
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

/** Checks that what an interrupted copy left is the beginning of the thread. Error codes: `thread_exists`. */
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
    throw changedInTarget();
  }
}

function isPrefix(some: readonly CheckpointName[], all: readonly CheckpointName[]): boolean {
  return some.every((name, index) => isSameName(name, all[index]));
}
