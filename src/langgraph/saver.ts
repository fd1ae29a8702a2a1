import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../core/errors.ts";
import { MESSAGES } from "../store/checkpoints/head-mark.ts";
import { refusingDamage } from "../store/checkpoints/damage.ts";
import type { PrunedIds } from "../store/checkpoints/plan-prune.ts";
import { putCheckpoint } from "../store/checkpoints/put.ts";
import { putWrites } from "../store/checkpoints/put-writes.ts";
import { readCheckpoints, type ReadCheckpoints } from "../store/checkpoints/read.ts";
import { deleteThread } from "../store/checkpoints/threads.ts";
import type { StoredIds } from "../store/checkpoints/value.ts";
import type { Fence } from "../store/records/leases/fence.ts";
import type { NewCalls } from "../store/records/model-calls/store-calls.ts";
import type { Store } from "../store/store.ts";
import { encodeJson } from "./encode.ts";
import { questionsIn } from "./question-value.ts";
import { createWriteBatch } from "./write-batch.ts";
import type {
  Holding,
  LatestRead,
  OnStored,
  PendingCalls,
  SaverParts,
  SessionSaver,
} from "./session-saver.ts";
import { createWriteQueue } from "./write-queue.ts";
import {
  configOf,
  requireText,
  requireThreadId,
  requireThreadKey,
  storableOf,
  textOf,
  type ThreadKey,
  threadKeyOf,
  wantedCheckpointOf,
} from "./thread-key.ts";
import { draftPut } from "./put-draft.ts";
import { listInput, matches } from "./list-input.ts";
import { isCovered, lengthsOf, rememberPage, tupleOf } from "./read-tuple.ts";
import {
  createThreadCache,
  forgetParts,
  forgetPruned,
  headKey,
  type KnownList,
  knowsHead,
  type ThreadCache,
} from "./thread-cache.ts";
import { createThreadCaches, type ThreadCaches } from "./thread-caches.ts";

/**
 * LangGraph's checkpoints on our store. Each message is kept once in its thread and a checkpoint
 * is a small row that refers to it, so an exchange costs the same however long the thread is.
 *
 * - `put` brings the mirror of the thread's session up to the checkpoint in its own transaction.
 * - With a fence, `put`, `putWrites` and `deleteThread` are refused once the lease is another's
 *   (`lease_lost`, `session_ended`) and have changed nothing then.
 * - Whatever is read belongs to the reader alone: changing it in place changes nothing else. Only
 *   what is read with `holding`, or with `frozen`, is shared and cannot be changed.
 */
export function createCheckpointSaver(parts: SaverParts): SessionSaver {
  return new CheckpointSaver(parts);
}

/** By channel; a channel may have the name of a member that every object inherits. */
const SPECIAL_INDEXES = new Map(Object.entries(WRITES_IDX_MAP));

/** Checkpoints read at a time by `list`. */
const PAGE = 20;

class CheckpointSaver extends BaseCheckpointSaver implements SessionSaver {
  readonly #store: SaverParts["store"];
  readonly #fence: () => Fence | null;
  readonly #caches: ThreadCaches;
  readonly #frozen: boolean;
  readonly #isShownOnly: boolean;
  readonly #run: Store["write"];
  readonly #onStored: OnStored | undefined;
  readonly #calls: PendingCalls | undefined;
  #latest: LatestRead | undefined;

  constructor(
    { store, fence, frozen, isShownOnly }: SaverParts,
    shared?: ThreadCaches,
    more: Holding = {},
  ) {
    super();
    this.#store = store;
    this.#fence = fence ?? (() => null);
    this.#caches = shared ?? createThreadCaches();
    this.#frozen = shared === undefined ? frozen === true : more.frozen !== false;
    this.#isShownOnly = isShownOnly === true;
    // a saver without leases may serve many threads at once
    this.#run = shared === undefined ? store.write.bind(store) : createWriteQueue(store);
    this.#onStored = more.onStored;
    this.#calls = more.calls;
    this.#latest = more.latest;
  }

  holding(fence: Fence, more?: Holding): SessionSaver {
    const parts = { store: this.#store, fence: () => fence, isShownOnly: this.#isShownOnly };
    return new CheckpointSaver(parts, this.#caches, more);
  }

  async readLatest(thread_id: string, how: Pick<Holding, "frozen"> = {}): Promise<LatestRead> {
    const tuple = await this.#readOne({ thread_id, ns: "" }, undefined, how.frozen !== false);
    return { thread_id, tuple };
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const key = threadKeyOf(config);
    if (key === null) {
      return undefined;
    }
    const checkpoint_id = wantedCheckpointOf(config) ?? undefined;
    const isLatest = checkpoint_id === undefined && key.ns === "";
    const known = isLatest && this.#latest?.thread_id === key.thread_id ? this.#latest : null;
    const tuple = known?.tuple ?? (await this.#readOne(key, checkpoint_id, this.#frozen));
    return tuple();
  }

  async #readOne(
    key: ThreadKey,
    checkpoint_id: string | undefined,
    shared: boolean,
  ): Promise<LatestRead["tuple"]> {
    const cache = this.#caches.of(key.thread_id);
    const latest = checkpoint_id === undefined && key.ns === "";
    const wanted = { ...key, checkpoint_id, latest, limit: 1 };
    const { page, reader } = await this.#read(wanted, cache, shared);
    const [read] = page.checkpoints;
    return () =>
      read === undefined
        ? Promise.resolve(undefined)
        : refusingDamage(() => tupleOf(read, reader, this.getNextVersion(undefined)));
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { limit = Infinity } = options;
    // LangGraph's own savers take null for none
    const filter = options.filter ?? {};
    const wanted = listInput(config, options.before);
    let left = limit;
    let before_row: number | undefined;
    while (left > 0) {
      const cache =
        wanted.thread_id === undefined ? createThreadCache() : this.#caches.of(wanted.thread_id);
      const { page, reader } = await this.#read(
        { ...wanted, ...(before_row === undefined ? {} : { before_row }), limit: PAGE },
        cache,
      );
      for (const read of page.checkpoints) {
        const tuple = await refusingDamage(() =>
          tupleOf(read, reader, this.getNextVersion(undefined)),
        );
        if (matches(tuple.metadata, filter)) {
          yield tuple;
          left -= 1;
        }
        if (left <= 0) {
          return;
        }
        before_row = read.row;
      }
      if (page.checkpoints.length < PAGE) {
        return;
      }
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const key = requireThreadKey(config);
    const parent_id = textOf(config, "checkpoint_id");
    requireText("checkpoint_id", checkpoint.id);
    storableOf("ts", checkpoint.ts);
    const fence = this.#fence();
    await this.#writeKnowing(key, parent_id, async (cache, whole) => {
      const put = { key, parent_id, checkpoint, metadata, newVersions, whole };
      const draft = draftPut(put, cache);
      const stored = await this.#withCalls((calls) =>
        this.#run(putCheckpoint, { ...draft.input, fence, calls }),
      );
      if (stored !== "stale") {
        draft.learn(stored);
        this.#onStored?.(stored.messages, messagesIn(checkpoint));
      }
      return stored;
    });
    return configOf(key, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const key = requireThreadKey(config);
    const checkpoint_id = requireText("checkpoint_id", config.configurable?.["checkpoint_id"]);
    requireText("task_id", taskId);
    const fence = this.#fence();
    const questions = questionsIn(writes);
    // nothing is read first: the task may change its values in place after the call
    await this.#writeKnowing(key, null, async (cache) => {
      const builder = createWriteBatch(cache);
      const inputs = writes.map(([channel, value], index) => ({
        index: SPECIAL_INDEXES.get(channel) ?? index,
        channel,
        value: encodeJson(value, builder),
      }));
      const { batch } = builder;
      const named = { ...key, checkpoint_id, task_id: taskId, task_path: taskPath, questions };
      const stored = await this.#withCalls((calls) =>
        this.#run(putWrites, { ...named, writes: inputs, batch, fence, calls }),
      );
      if (stored !== "stale") {
        builder.learn(stored);
      }
      return stored;
    });
  }

  override async deleteThread(threadId: string | number): Promise<void> {
    const thread_id = requireThreadId(threadId);
    this.#latest = undefined;
    this.#caches.forget(thread_id);
    await this.#store.write(deleteThread, { thread_id, fence: this.#fence() });
    this.#caches.forget(thread_id);
  }

  /** Writes with the requests that no other write is storing. */
  async #withCalls<Stored>(
    write: (calls: NewCalls | null) => Promise<Stored | "stale">,
  ): Promise<Stored | "stale"> {
    const calls = this.#calls?.take() ?? null;
    let stored: Stored | "stale" = "stale";
    try {
      stored = await write(calls);
    } finally {
      if (calls !== null) {
        this.#calls?.ended(calls, stored !== "stale");
      }
    }
    return stored;
  }

  forgetPruned(threadId: string, pruned: PrunedIds): void {
    forgetPruned(this.#caches.of(threadId), pruned);
  }

  /**
   * Writes with what is known of the thread; the parent is read first if it is unknown. If the
   * database has moved on since, everything known is forgotten and the write made again, whole:
   * several times, as the thread may be pruned each time.
   */
  async #writeKnowing(
    key: ThreadKey,
    parentId: string | null,
    attempt: (cache: ThreadCache, whole: boolean) => Promise<StoredIds | "stale">,
  ): Promise<void> {
    this.#latest = undefined;
    for (const whole of [false, true, true, true]) {
      const cache = this.#caches.of(key.thread_id);
      if (parentId !== null && !knowsHead(cache, headKey(key.ns, parentId))) {
        await this.#read({ ...key, checkpoint_id: parentId, limit: 1 }, cache);
      }
      // a failed write may have been rolled back with rows that another put thought stored
      const stored = await attempt(cache, whole).catch((error: unknown) => {
        this.#caches.forget(key.thread_id);
        throw error;
      });
      if (stored !== "stale") {
        return;
      }
      this.#caches.forget(key.thread_id);
    }
    throw new RepriseError(
      "internal",
      "The thread was changed by another process while a checkpoint was stored; try again.",
    );
  }

  async #read(input: Omit<ReadCheckpoints, "have">, cache: ThreadCache, shared = this.#frozen) {
    return refusingDamage(async () => {
      let lists: ReadonlyMap<number, KnownList> = new Map(cache.lists);
      const isShownOnly = this.#isShownOnly && shared;
      const value = isShownOnly ? cache.value : undefined;
      const wanted = { ...input, isShownOnly, known: value?.key };
      let page = await this.#store.read(readCheckpoints, { ...wanted, have: lengthsOf(lists) });
      if (!page.lists.every((tail) => isCovered(tail, lists))) {
        lists = forgetParts(cache);
        page = await this.#store.read(readCheckpoints, { ...wanted, have: lengthsOf(lists) });
      }
      if (page.checkpoints.length === 0 && input.thread_id !== undefined) {
        this.#caches.forgetEmpty(input.thread_id);
      }
      return { page, reader: rememberPage({ page, cache, lists, shared, value }) };
    });
  }
}

function messagesIn({ channel_values }: Checkpoint): readonly unknown[] {
  const messages = channel_values[MESSAGES];
  return Array.isArray(messages) ? messages : [messages];
}
