import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  MemorySaver,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";

import { plainTuple } from "./plain.ts";
import type { ProgramSaver } from "./random-program.ts";

/**
 * Puts everything into two savers, ours and LangGraph's MemorySaver, reads from ours and compares
 * each answer with MemorySaver's. Ours may be several on one database, taken in turns, as several
 * processes would be.
 */
export class TwinSaver extends BaseCheckpointSaver implements ProgramSaver {
  readonly memory: MemorySaver;
  readonly #ours: readonly BaseCheckpointSaver[];
  #turn = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(ours: readonly BaseCheckpointSaver[], memory = new MemorySaver()) {
    super();
    this.#ours = ours;
    this.memory = memory;
  }

  #next(): BaseCheckpointSaver {
    this.#turn += 1;
    return this.#ours[this.#turn % this.#ours.length]!;
  }

  /** One after the other: LangGraph does not wait, and half of a write cannot be compared. */
  #inTurn<Output>(work: () => Promise<Output>): Promise<Output> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#inTurn(() => this.#put(config, checkpoint, metadata, newVersions));
  }

  override putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    return this.#inTurn(async () => {
      await this.#next().putWrites(config, writes, taskId, taskPath);
      await this.memory.putWrites(config, writes, taskId, taskPath);
    });
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#inTurn(() => this.#getTuple(config));
  }

  async #put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    // ours goes first: it gives ids to messages that have none
    const answer = await this.#next().put(config, checkpoint, metadata, newVersions);
    expect(await this.memory.put(config, checkpoint, metadata)).toEqual(answer);
    await this.#getTuple(answer);
    return answer;
  }

  async #getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const ours = await this.#next().getTuple(config);
    expect(plainTuple(ours)).toEqual(plainTuple(await this.memory.getTuple(config)));
    return ours;
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    yield* await this.#inTurn(async () => {
      const ours = await Array.fromAsync(this.#next().list(config, options));
      const theirs = await Array.fromAsync(this.memory.list(config, options));
      expect(ours.map(plainTuple)).toEqual(theirs.map(plainTuple));
      return ours;
    });
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#next().deleteThread(threadId);
      await this.memory.deleteThread(threadId);
    });
  }

  /** Does something while nothing else reads or writes. */
  exclusively<Output>(work: () => Promise<Output>): Promise<Output> {
    return this.#inTurn(work);
  }

  checkpointsOf(thread: string): readonly string[] {
    return Object.keys(this.memory.storage[thread]?.[""] ?? {}).sort();
  }

  /**
   * Every checkpoint of a thread, from list and one by one, from each of our savers and from
   * another one. What a failed step leaves running writes before or after, not meanwhile.
   */
  compareAll(thread_id: string, other?: BaseCheckpointSaver): Promise<number> {
    const savers = [...this.#ours, ...(other === undefined ? [] : [other])];
    return this.#inTurn(() => this.#compareAll(thread_id, savers));
  }

  async #compareAll(thread_id: string, savers: readonly BaseCheckpointSaver[]): Promise<number> {
    const theirs = await Array.fromAsync(this.memory.list({ configurable: { thread_id } }));
    const namespaces = new Set(theirs.map(({ config }) => nsOf(config)));
    for (const ours of savers) {
      for (const checkpoint_ns of namespaces) {
        const config = { configurable: { thread_id, checkpoint_ns } };
        expect((await Array.fromAsync(ours.list(config))).map(plainTuple)).toEqual(
          theirs.filter((tuple) => nsOf(tuple.config) === checkpoint_ns).map(plainTuple),
        );
      }
      for (const tuple of theirs) {
        expect(plainTuple(await ours.getTuple(tuple.config))).toEqual(plainTuple(tuple));
      }
    }
    return theirs.length;
  }
}

function nsOf(config: RunnableConfig): string {
  return String(config.configurable?.["checkpoint_ns"]);
}
