import { BaseMessage } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { mayRepeat } from "../repeating.ts";
import { withResults } from "../thread-state.ts";
import type { ThreadConfig } from "../driven-agent.ts";
import { closeTask } from "./close-task.ts";
import type { GraphExchange } from "./graph-context.ts";
import { openWork } from "./open-tasks.ts";
import { refuseToRepeat, suspectsOf } from "./repeat.ts";
import { startedTools } from "./started-tools.ts";
import { subgraphStates } from "./subgraph-states.ts";

/** The node that takes a graph's input. */
const START = "__start__";

interface StoppedAt {
  readonly snapshot: StateSnapshot;
  readonly tuple: CheckpointTuple;
}

/** A new message skips what was interrupted: each open call gets a result before it. */
export async function skipInterrupted(
  exchange: GraphExchange,
  config: ThreadConfig,
): Promise<void> {
  const { graph } = exchange.attached;
  const { tuple } = exchange.thread;
  const snapshot = await graph.getState(config);
  // a graph that has finished may leave calls open on purpose, for its caller to answer
  if (tuple === undefined || snapshot.tasks.length === 0) {
    return;
  }
  const isEarlier = await earlierMessages(exchange, config);
  const { calls } = openWork({ snapshot, tuple, graph, isEarlier });
  if (calls.length > 0) {
    await graph.updateState(config, { messages: withResults(calls) }, START);
  }
}

/**
 * Calls that may have taken effect are run again only with a yes. Answers with the tasks that were
 * closed instead; `waiting` if a person has to be asked first.
 *
 * Error codes: `exchange_interrupted` if there is no yes and a task cannot be closed.
 */
export async function closeUnsafe(
  exchange: GraphExchange,
  config: ThreadConfig,
  { snapshot, tuple }: StoppedAt,
): Promise<readonly string[] | "waiting"> {
  const { store, thread, attached, late, live, repeatable } = exchange;
  const { saver } = thread;
  const { graph } = attached;
  const started = await startedTools(tuple, saver, config);
  const subgraphs = await subgraphStates(saver, config);
  const run = { thread: { snapshot, tuple, graph }, started, subgraphs, repeatable };
  let suspects = suspectsOf(run, () => false);
  if (suspects.length > suspectsOf(run, () => true).length) {
    suspects = suspectsOf(run, await earlierMessages(exchange, config));
  }
  const calls = suspects.map(({ call: { id, name, args } }) => ({ id, name, args }));
  const asking = {
    store,
    fence: thread.held.fence,
    thread_suffix: thread.held.session.thread_suffix,
    repeats: live.repeats ?? "never",
    default: undefined,
    conceal: (text: string) => text,
  };
  // an attempt has its own name: a tool of a later step may be called with the same, and without an id
  const begun = started
    .map(({ attempt }) => attempt)
    .toSorted()
    .join();
  const isAllowed = await mayRepeat(asking, { calls, begun });
  if (isAllowed !== "no") {
    return isAllowed === "yes" ? [] : "waiting";
  }
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
async function earlierMessages(
  { thread: { saver } }: GraphExchange,
  { configurable }: ThreadConfig,
): Promise<(message: BaseMessage) => boolean> {
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
