import type { StateSnapshot } from "@langchain/langgraph";
import { BaseCheckpointSaver, type PendingWrite } from "@langchain/langgraph-checkpoint";

import { withResults } from "../messages/thread-state.ts";
import type { ThreadConfig } from "../driver/driven-agent.ts";
import type { AttachedGraph } from "./attach-saver.ts";
import type { LateSaver } from "./late-saver.ts";
import type { OpenTask } from "./open-tasks.ts";

/**
 * Finishes a task without running it: its calls get the result "outcome unknown". What its node
 * leads to is stored as if the node had run, beside what the other tasks have written.
 */
export async function closeTask(
  task: OpenTask,
  {
    graph,
    saver,
    late,
    config,
    snapshot,
  }: Pick<AttachedGraph, "graph"> & {
    readonly saver: BaseCheckpointSaver;
    readonly late: LateSaver;
    readonly config: ThreadConfig;
    readonly snapshot: StateSnapshot;
  },
): Promise<void> {
  const recorder = new WriteRecorder(saver);
  const messages = withResults(task.calls);
  await late.using(recorder, () => graph.updateState(config, { messages }, task.node));
  await saver.putWrites(snapshot.config, recorder.writes, task.id, "");
}

/** Reads what is stored and stores nothing: it keeps what a node would have written. */
class WriteRecorder extends BaseCheckpointSaver {
  readonly writes: PendingWrite[] = [];
  readonly #saver: BaseCheckpointSaver;

  constructor(saver: BaseCheckpointSaver) {
    super();
    this.#saver = saver;
  }

  override getTuple(...given: Parameters<BaseCheckpointSaver["getTuple"]>) {
    return this.#saver.getTuple(...given);
  }

  override list(...given: Parameters<BaseCheckpointSaver["list"]>) {
    return this.#saver.list(...given);
  }

  override put(...[config]: Parameters<BaseCheckpointSaver["put"]>) {
    return Promise.resolve(config);
  }

  override putWrites(...[, writes]: Parameters<BaseCheckpointSaver["putWrites"]>): Promise<void> {
    this.writes.push(...writes);
    return Promise.resolve();
  }

  override deleteThread(): Promise<void> {
    return Promise.resolve();
  }
}
