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

import { plain } from "./plain.ts";
import type { ProgramSaver } from "./random-program.ts";

/** A checkpoint or what a task wrote: when it is begun, and with its content once it is stored. */
export type LoggedWrite = {
  readonly thread: string;
  readonly ns: string;
  /** Of the checkpoint. */
  readonly id: string;
  readonly stored: boolean;
} & (
  | { readonly kind: "put"; readonly content?: unknown }
  | {
      readonly kind: "writes";
      readonly task: string;
      /** Counts the calls of the process. */
      readonly call: number;
      readonly content: [channel: string, value: unknown][];
    }
);

export type LogLine =
  | LoggedWrite
  | { readonly kind: "delete"; readonly thread: string; readonly stored: boolean };

/** Logs each write of a saver before it is made and once it is acknowledged. */
export class LoggedSaver extends BaseCheckpointSaver implements ProgramSaver {
  readonly #saver: BaseCheckpointSaver;
  readonly #log: (line: LogLine) => void;
  readonly #ids = new Map<string, string[]>();
  #calls = 0;

  constructor(saver: BaseCheckpointSaver, log: (line: LogLine) => void) {
    super();
    this.#saver = saver;
    this.#log = log;
  }

  /** Learns what a thread has from before. */
  async learn(thread_id: string): Promise<void> {
    const config = { configurable: { thread_id, checkpoint_ns: "" } };
    const tuples = await Array.fromAsync(this.#saver.list(config));
    this.#ids.set(thread_id, tuples.map(({ checkpoint }) => checkpoint.id).reverse());
  }

  checkpointsOf(thread: string): readonly string[] {
    return this.#ids.get(thread) ?? [];
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, ns } = keyOf(config);
    const write = { kind: "put" as const, thread, ns, id: checkpoint.id };
    this.#log({ ...write, stored: false });
    const answer = await this.#saver.put(config, checkpoint, metadata, newVersions);
    // messages without an id have one now
    const parent: unknown = config.configurable?.["checkpoint_id"];
    this.#log({ ...write, stored: true, content: plain({ checkpoint, metadata, parent }) });
    if (ns === "") {
      this.#ids.set(thread, [...this.checkpointsOf(thread), checkpoint.id]);
    }
    return answer;
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    task: string,
    ...more: never[]
  ): Promise<void> {
    const id = String(config.configurable?.["checkpoint_id"]);
    const write = { kind: "writes" as const, ...keyOf(config), id, task, call: this.#calls };
    this.#calls += 1;
    this.#log({ ...write, stored: false, content: plainWrites(writes) });
    await this.#saver.putWrites(config, writes, task, ...more);
    // messages without an id have one now
    this.#log({ ...write, stored: true, content: plainWrites(writes) });
  }

  override async deleteThread(thread: string): Promise<void> {
    this.#log({ kind: "delete", thread, stored: false });
    await this.#saver.deleteThread(thread);
    this.#log({ kind: "delete", thread, stored: true });
    this.#ids.delete(thread);
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#saver.getTuple(config);
  }

  override list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    return this.#saver.list(config, options);
  }
}

function plainWrites(writes: readonly PendingWrite[]): [string, unknown][] {
  return writes.map(([channel, value]) => [channel, plain(value)]);
}

function keyOf(config: RunnableConfig): { thread: string; ns: string } {
  const { thread_id, checkpoint_ns } = config.configurable ?? {};
  return { thread: String(thread_id), ns: String(checkpoint_ns ?? "") };
}
