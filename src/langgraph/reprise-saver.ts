import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";

import type { Store, StoreOptions } from "../store/store.ts";
import { givenStore, type LazyStore, lazyStore } from "./lazy-store.ts";
import { createCheckpointSaver } from "./saver.ts";
import type { SessionSaver } from "./session-saver.ts";

/** How `RepriseSaver` opens its database. */
export type RepriseSaverOptions = Omit<StoreOptions, "location">;

/**
 * LangGraph's checkpoints in a SQLite file or a PostgreSQL database. Each message is stored once in
 * its thread, so an exchange costs the same however long the thread is.
 *
 * The database is opened by the first call, which creates or upgrades it if needed; `end` closes it.
 *
 * Error codes of each call: `database_*`, `config_invalid` for an invalid address, `shutting_down`
 * after `end`.
 */
export class RepriseSaver extends BaseCheckpointSaver implements AsyncDisposable {
  #store: LazyStore;
  #saver: SessionSaver | null = null;

  /** Takes a file or a `postgres://` address. Nothing is opened yet. */
  constructor(database: string, options: RepriseSaverOptions = {}) {
    super();
    this.#store = lazyStore({ ...options, location: database });
  }

  /** A saver on a store that is open. `end` leaves the store open. */
  static from(store: Store): RepriseSaver {
    const saver = new RepriseSaver(store.location);
    saver.#store = givenStore(store);
    return saver;
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#use((saver) => saver.getTuple(config));
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    // the caller may take its time with each checkpoint, or never ask for the next
    const saver = await this.#use((saver) => Promise.resolve(saver));
    yield* saver.list(config, options);
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#use((saver) => saver.put(config, checkpoint, metadata, newVersions));
  }

  override putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    return this.#use((saver) => saver.putWrites(config, writes, taskId));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#use((saver) => saver.deleteThread(threadId));
  }

  /**
   * Refuses later calls, finishes what was accepted, and closes the database if this saver opened
   * it. Idempotent; `await using` calls it.
   */
  end(): Promise<void> {
    return this.#store.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  #use<Output>(work: (saver: SessionSaver) => Promise<Output>): Promise<Output> {
    return this.#store.use((store) => work((this.#saver ??= createCheckpointSaver({ store }))));
  }
}
