import { BaseMessage } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { withResults } from "../messages/thread-state.ts";
import { closeTask } from "./close-task.ts";
import type { GraphExchange } from "./graph-context.ts";
import { openWork } from "./open-tasks.ts";
import { refuseToRepeat, type Suspect, suspectsOf } from "./repeat.ts";
import { startedTools } from "./started-tools.ts";
import { subgraphStates } from "./subgraph-states.ts";

/** The node that takes a graph's input. */
const START = "__start__";

interface StoppedAt {
  readonly snapshot: StateSnapshot;
  readonly tuple: CheckpointTuple;
}

/** A new message skips what was interrupted: each open call gets a result before it. */
export async function skipInterrupted(exchange: GraphExchange): Promise<void> {
  const { attached, thread, config } = exchange;
  const { graph } = attached;
  const { tuple } = thread;
  const snapshot = await graph.getState(config);
  // a graph that has finished may leave calls open on purpose, for its caller to answer
  if (tuple === undefined || snapshot.tasks.length === 0) {
    return;
  }
  const isEarlier = await earlierMessages(exchange);
  const { calls } = openWork({ snapshot, tuple, graph, isEarlier });
  if (calls.length > 0) {
    await graph.updateState(config, { messages: withResults(calls) }, START);
  }
}

/** Returns the calls that need a yes to run again, and the name of what has begun of them. */
export async function findSuspects(
  exchange: GraphExchange,
  { snapshot, tuple }: StoppedAt,
): Promise<{ readonly suspects: readonly Suspect[]; readonly begun: string }> {
  const { thread, attached, repeatable, config } = exchange;
  const started = await startedTools(tuple, thread.saver, config);
  const subgraphs = await subgraphStates(thread.saver, config);
  const stopped = { snapshot, tuple, graph: attached.graph };
  const run = { thread: stopped, started, subgraphs, repeatable };
  let suspects = suspectsOf(run, () => false);
  if (suspects.length > suspectsOf(run, () => true).length) {
    suspects = suspectsOf(run, await earlierMessages(exchange));
  }
  // an attempt has its own name: a tool of a later step may be called with the same, and without an id
  const attempts = started.map(({ attempt }) => attempt);
  return { suspects, begun: attempts.toSorted().join() };
}

/**
 * Finishes the tasks of calls without running them, and returns the ids of the tasks.
 *
 * Error codes: `exchange_interrupted` if a task cannot be closed.
 */
export async function closeSuspects(
  { thread, attached, late, config }: GraphExchange,
  { snapshot }: StoppedAt,
  suspects: readonly Suspect[],
): Promise<readonly string[]> {
  const { saver } = thread;
  const { graph } = attached;
  const tasks = new Set(suspects.map(({ task }) => task));
  if (tasks.has(null)) {
    throw refuseToRepeat();
  }
  const unsafe = [...tasks].filter((task) => task !== null);
  for (const task of unsafe) {
    await closeTask(task, { graph, saver, late, config, snapshot });
  }
  return unsafe.map(({ id }) => id);
}

/** Knows the messages that the thread had when its exchange began. */
async function earlierMessages({
  thread: { saver },
  config: { configurable },
}: GraphExchange): Promise<(message: BaseMessage) => boolean> {
  const root = { configurable: { ...configurable, checkpoint_ns: "" } };
  const known = new Set<unknown>();
  for await (const { checkpoint } of saver.list(root, { filter: { source: "input" }, limit: 1 })) {
    for (const value of Object.values(checkpoint.channel_values).flat()) {
      if (BaseMessage.isInstance(value)) {
        known.add(value.id);
      }
    }
  }
  return ({ id }) => id !== undefined && known.has(id);
}
