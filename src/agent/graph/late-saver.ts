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

import { RepriseError } from "../../core/errors.ts";

/**
 * The saver that a graph is compiled with before its session is held, so that an unsuitable graph is
 * refused before anything is stored. It saves nothing until it is given the exchange's own saver.
 */
export class LateSaver extends BaseCheckpointSaver {
  #saver: BaseCheckpointSaver | null = null;

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

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#given().getTuple(config);
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    yield* this.#given().list(config, options);
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#given().put(config, checkpoint, metadata, newVersions);
  }

  override putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    return this.#given().putWrites(config, writes, taskId, taskPath);
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#given().deleteThread(threadId);
  }

  #given(): BaseCheckpointSaver {
    if (this.#saver === null) {
      throw new RepriseError(
        "graph_unsuitable",
        "The graph used its checkpointer before its session was held. Use it only while the graph runs.",
      );
    }
    return this.#saver;
  }
}
