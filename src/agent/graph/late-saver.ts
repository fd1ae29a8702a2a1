import { setImmediate as nextTurn } from "node:timers/promises";

import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../../core/errors.ts";
import { DelegatingSaver } from "../../langgraph/delegating-saver.ts";

/** Checkpoint ids by namespace. */
export type Heads = ReadonlyMap<string, string>;

/**
 * The saver that a graph is compiled with before its session is held, so that an unsuitable graph is
 * refused before anything is stored. It saves nothing until it is given the exchange's own saver.
 */
export class LateSaver extends DelegatingSaver {
  #saver: BaseCheckpointSaver | null = null;
  /** What is being stored, by thread and namespace. */
  readonly #putting = new Map<string, Promise<unknown>>();
  readonly #heads = new Map<string, Map<string, string>>();

  /** Everything goes to this saver while the work runs, and to the one before it afterwards. */
  async using<Result>(saver: BaseCheckpointSaver, work: () => Promise<Result>): Promise<Result> {
    const before = this.#saver;
    this.#saver = saver;
    try {
      return await work();
    } finally {
      this.#saver = before ?? saver;
    }
  }

  /** The checkpoints on which the thread's graph and its subgraphs run. */
  heads(threadId: string): Heads {
    return this.#heads.get(threadId) ?? new Map<string, string>();
  }

  /**
   * Waits until the checkpoints on which these graphs run are stored. LangGraph begins tasks before,
   * and hands over a checkpoint only when the one before it is stored.
   */
  async settled(threadId: string, namespaces: readonly string[]): Promise<void> {
    const keys = namespaces.map((ns) => keyOf(threadId, ns));
    do {
      await Promise.allSettled(keys.flatMap((key) => this.#putting.get(key) ?? []));
      // the next one is handed over a few turns later
      await nextTurn();
    } while (keys.some((key) => this.#putting.has(key)));
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await super.getTuple(config);
    this.#learn(config, tuple?.checkpoint.id);
    return tuple;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#learn(config, checkpoint.id);
    const { thread_id, checkpoint_ns } = config.configurable ?? {};
    const key = keyOf(thread_id, checkpoint_ns);
    const putting = super.put(config, checkpoint, metadata, newVersions);
    this.#putting.set(key, putting);
    try {
      return await putting;
    } finally {
      if (this.#putting.get(key) === putting) {
        this.#putting.delete(key);
      }
    }
  }

  #learn({ configurable = {} }: RunnableConfig, checkpointId: string | undefined): void {
    const threadId = String(configurable["thread_id"]);
    const heads = this.#heads.get(threadId) ?? new Map<string, string>();
    this.#heads.set(threadId, heads);
    if (checkpointId !== undefined) {
      heads.set(String(configurable["checkpoint_ns"] ?? ""), checkpointId);
    }
  }

  protected override async delegate<Output>(
    work: (saver: BaseCheckpointSaver) => Promise<Output>,
  ): Promise<Output> {
    if (this.#saver === null) {
      throw new RepriseError(
        "graph_unsuitable",
        "The graph used its checkpointer before its session was held. Use it only while the graph runs.",
      );
    }
    return work(this.#saver);
  }
}

function keyOf(threadId: unknown, ns: unknown = ""): string {
  return JSON.stringify([String(threadId), String(ns)]);
}
