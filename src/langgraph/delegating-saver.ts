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

/** A saver that passes each call on to another one. */
export abstract class DelegatingSaver extends BaseCheckpointSaver {
  /** Does the work with the saver that serves this call. */
  protected abstract delegate<Output>(
    work: (saver: BaseCheckpointSaver) => Promise<Output>,
  ): Promise<Output>;

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.delegate((saver) => saver.getTuple(config));
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    // the caller may take its time with each checkpoint, or never ask for the next
    const saver = await this.delegate((saver) => Promise.resolve(saver));
    yield* saver.list(config, options);
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.delegate((saver) => saver.put(config, checkpoint, metadata, newVersions));
  }

  override putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    return this.delegate((saver) => saver.putWrites(config, writes, taskId, taskPath));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.delegate((saver) => saver.deleteThread(threadId));
  }
}
