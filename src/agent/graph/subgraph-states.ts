import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  TASKS,
} from "@langchain/langgraph-checkpoint";

import type { ThreadConfig } from "../driver/driven-agent.ts";

/** A graph that was running within a task of the root graph. */
export interface SubgraphState {
  /** The task of the root graph. */
  readonly task: string;
  readonly tuple: CheckpointTuple;
}

/** Channels that have a value only while a node is next. */
const TRIGGER = /^(?:__start__$|branch:|join:)/;

/**
 * The graphs within the tasks that run on the root's latest checkpoint: subgraphs, and graphs that a
 * node or a tool runs. One that has finished is not among them.
 */
export async function subgraphStates(
  saver: BaseCheckpointSaver,
  { configurable: { thread_id } }: ThreadConfig,
): Promise<readonly SubgraphState[]> {
  const heads = new Map<string, CheckpointTuple>();
  // the newest first, of all graphs: what is older than the root's latest belongs to an earlier step
  for await (const tuple of saver.list({ configurable: { thread_id } })) {
    const ns = String(tuple.config.configurable?.["checkpoint_ns"] ?? "");
    if (ns === "") {
      break;
    }
    heads.set(ns, heads.get(ns) ?? tuple);
  }
  return [...heads]
    .filter(([, tuple]) => hasNext(tuple))
    .map(([ns, tuple]) => ({ task: taskOf(ns.split("|")[0] ?? ""), tuple }));
}

/** The task of a member of a namespace: `tools:<task>`. */
export function taskOf(member: string): string {
  return member.slice(member.lastIndexOf(":") + 1);
}

function hasNext({ checkpoint: { channel_values: values } }: CheckpointTuple): boolean {
  const sends = values[TASKS];
  return (
    (Array.isArray(sends) && sends.length > 0) ||
    Object.keys(values).some((name) => TRIGGER.test(name))
  );
}
