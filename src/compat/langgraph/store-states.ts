import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointTuple, PendingWrite } from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../../core/errors.ts";
import {
  changedInTarget,
  requireFreeThread,
  targetHasThread,
} from "../../store/records/threads/free-threads.ts";
import { type CheckpointName, isSameName } from "../../store/checkpoints/threads/thread-names.ts";
import { deleteThread, holdThread, keepThread } from "../../store/checkpoints/threads.ts";
import type { Operation, Tx } from "../../store/store.ts";
import { createCheckpointSaver } from "../../langgraph/saver.ts";
import type { SessionSaver } from "../../langgraph/session-saver.ts";
import { checkpointWithSends, type OfficialState, type OfficialTask } from "./read-state.ts";
import { isSameValue } from "./same-value.ts";

export interface StoreStates {
  readonly thread_id: string;
  /** Every checkpoint of the thread, in the order in which they are stored. */
  readonly names: readonly CheckpointName[];
  /** Some of these, without a gap. */
  readonly states: readonly OfficialState[];
  /** The position of the first one in `names`. */
  readonly at: number;
}

export interface StoredStates {
  /** The number of the thread. */
  readonly thread: number;
  /** True if the thread did not exist before. */
  readonly created: boolean;
  /** How many checkpoints were not there before. */
  readonly added: number;
}

/**
 * Stores checkpoints of a thread and reads each one again in the same transaction. Those that are
 * present, for example because another copy has stored them meanwhile, are compared only, but for
 * what their tasks have written since they were copied.
 *
 * Error codes: `thread_of_session`; `thread_exists` if what is present differs, or no longer has
 * those before; `internal` if what was stored is read back differently, which undoes all; as the
 * saver's `put`.
 */
export const storeStates: Operation<StoreStates, StoredStates> = async (tx, input) => {
  const { thread_id, at, states } = input;
  const held = await holdCopied(tx, input);
  if (held.length < at) {
    throw changedInTarget();
  }
  const present = held.length - at;
  const saver = saverIn(tx);
  for (const [index, state] of states.entries()) {
    const key = { thread_id, checkpoint_ns: state.name.ns };
    if (index < present) {
      const missing = missingWrites(await readTuple(saver, key, state), state);
      await putTasks(saver, { ...key, checkpoint_id: state.checkpoint.id }, missing);
    } else {
      await putState(saver, key, state);
    }
    const difference = differenceOf(await readTuple(saver, key, state), state);
    if (difference !== null) {
      throw index < present ? targetHasThread() : unfaithful(difference);
    }
  }
  return {
    thread: held.thread ?? (await keepThread(tx, thread_id)),
    created: held.thread === null,
    added: Math.max(0, states.length - present),
  };
};

interface CopiedThread {
  /** Null if it does not exist. */
  readonly thread: number | null;
  /** How many of the names it has. */
  readonly length: number;
}

/**
 * Keeps everybody else from the thread until the transaction ends, also other copies that would
 * create it. Each copy adds in the order of the names, so the latest checkpoint gives the length.
 */
async function holdCopied(
  tx: Tx,
  { thread_id, names }: Pick<StoreStates, "thread_id" | "names">,
): Promise<CopiedThread> {
  await tx.dialect.holdName(`copy ${thread_id}`)?.execute(tx.db);
  await requireFreeThread(tx, thread_id, "create");
  const { id: thread } = await holdThread(tx, { thread_id, fence: null });
  const latest = thread === null ? undefined : await latestName(tx, thread);
  if (latest === undefined) {
    return { thread, length: 0 };
  }
  const position = names.findIndex((name) => isSameName(name, latest));
  if (position < 0) {
    throw targetHasThread();
  }
  return { thread, length: position + 1 };
}

function latestName({ db }: Tx, thread: number): Promise<CheckpointName | undefined> {
  return db
    .selectFrom("checkpoints")
    .select(["ns", "checkpoint_id"])
    .where("thread", "=", thread)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Thread that a run of a copy created, with what it has stored of it. */
export interface OwnThread {
  readonly thread_id: string;
  /** The thread's number, which no other thread ever gets. */
  readonly thread: number;
  readonly checkpoints: number;
}

/** Deletes such a thread, unless it has checkpoints that others have stored. */
export const deleteOwnThread: Operation<OwnThread, void> = async (tx, own) => {
  const { id } = await holdThread(tx, { thread_id: own.thread_id, fence: null });
  const { checkpoints } = await tx.db
    .selectFrom("checkpoints")
    .select(({ fn }) => fn.countAll<number>().as("checkpoints"))
    .where("thread", "=", own.thread)
    .executeTakeFirstOrThrow();
  if (id === own.thread && checkpoints === own.checkpoints) {
    await deleteThread(tx, { thread_id: own.thread_id, fence: null });
  }
};

/**
 * True if the target has these checkpoints as they are. False if their tasks have written more.
 *
 * Error codes: as `storeStates`.
 */
export const compareStates: Operation<Pick<StoreStates, "thread_id" | "states">, boolean> = async (
  tx,
  { thread_id, states },
) => {
  await requireFreeThread(tx, thread_id, "create");
  const saver = saverIn(tx);
  let isWhole = true;
  for (const state of states) {
    const key = { thread_id, checkpoint_ns: state.name.ns };
    const tuple = await readTuple(saver, key, state);
    if (missingWrites(tuple, state).length > 0) {
      isWhole = false;
    } else if (differenceOf(tuple, state) !== null) {
      throw targetHasThread();
    }
  }
  return isWhole;
};

/** A saver whose every call is part of the transaction. It is of no use after it. */
function saverIn(tx: Tx): SessionSaver {
  const run: Parameters<typeof createCheckpointSaver>[0]["store"]["write"] = (operation, input) =>
    operation(tx, input);
  return createCheckpointSaver({ store: { read: run, write: run } });
}

type Key = NonNullable<RunnableConfig["configurable"]>;

async function readTuple(
  saver: SessionSaver,
  key: Key,
  { checkpoint }: OfficialState,
): Promise<CheckpointTuple> {
  const tuple = await saver.getTuple({ configurable: { ...key, checkpoint_id: checkpoint.id } });
  if (tuple === undefined) {
    throw targetHasThread();
  }
  return tuple;
}

async function putState(saver: SessionSaver, key: Key, state: OfficialState): Promise<void> {
  const { checkpoint, metadata, parent_id, parentTasks } = state;
  const parent = parent_id === null ? {} : { checkpoint_id: parent_id };
  // every channel counts as new: what is stored already is stored once all the same
  await saver.put({ configurable: { ...key, ...parent } }, checkpoint, metadata, {
    ...checkpoint.channel_versions,
  });
  await putTasks(saver, { ...key, checkpoint_id: checkpoint.id }, state.tasks);
  if (parentTasks !== null) {
    // the parent may be missing, and what its tasks sent is not in the checkpoint
    await putTasks(saver, { ...key, ...parent }, parentTasks);
  }
}

async function putTasks(
  saver: SessionSaver,
  configurable: Key,
  tasks: readonly OfficialTask[],
): Promise<void> {
  for (const { task_id, task_path, writes } of tasks) {
    await saver.putWrites({ configurable }, byIndex(writes), task_id, task_path);
  }
}

/**
 * The writes of a task as the graph passed them: the saver takes their places as indexes. The
 * places of special writes, whose index is below 0, are the ones that no other has.
 */
function byIndex(writes: OfficialTask["writes"]): PendingWrite[] {
  const special = writes.filter(({ index }) => index < 0).map(pendingWrite);
  const others = writes.filter(({ index }) => index >= 0);
  const placed: PendingWrite[] = [];
  for (const write of others) {
    while (placed.length < write.index && special.length > 0) {
      placed.push(...special.splice(0, 1));
    }
    placed.push(pendingWrite(write));
  }
  return [...placed, ...special];
}

function pendingWrite({ channel, value }: OfficialTask["writes"][number]): PendingWrite {
  return [channel, value];
}

/** Tasks of the source that have written more than the target knows. */
function missingWrites({ pendingWrites = [] }: CheckpointTuple, { tasks }: OfficialState) {
  return tasks.filter(
    ({ task_id, writes }) =>
      pendingWrites.filter(([stored]) => stored === task_id).length < writes.length,
  );
}

/** Returns what differs between a checkpoint and its source; null if nothing does. */
function differenceOf(tuple: CheckpointTuple, state: OfficialState): string | null {
  const { checkpoint, metadata, parentConfig, pendingWrites } = tuple;
  const expected = checkpointWithSends(state);
  const pending = state.tasks.flatMap(({ task_id, writes }) =>
    writes.map(({ channel, value }) => [task_id, channel, value]),
  );
  const pairs: readonly (readonly [what: string, source: unknown, stored: unknown])[] = [
    ["the values", expected.channel_values, checkpoint.channel_values],
    ["the versions", expected.channel_versions, checkpoint.channel_versions],
    ["what nodes have seen", expected.versions_seen, checkpoint.versions_seen],
    [
      "the time",
      [expected.v, expected.id, expected.ts],
      [checkpoint.v, checkpoint.id, checkpoint.ts],
    ],
    ["the metadata", state.metadata, metadata],
    ["the parent", state.parent_id, parentConfig?.configurable?.["checkpoint_id"] ?? null],
    ["the pending writes", pending, pendingWrites],
  ];
  const different = pairs.find(([, source, stored]) => !isSameValue(source, stored));
  return different?.[0] ?? null;
}

function unfaithful(what: string): RepriseError {
  return new RepriseError(
    "internal",
    `The target returned ${what} of a checkpoint with different content, so the thread was rolled back. Please report this.`,
  );
}
