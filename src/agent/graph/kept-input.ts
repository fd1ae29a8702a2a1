import type { BaseMessage } from "@langchain/core/messages";
import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  emptyCheckpoint,
  type PendingWrite,
  RESUME,
  TASKS,
} from "@langchain/langgraph-checkpoint";

import { BEFORE_FIRST } from "../messages/thread-state.ts";
import type { ThreadConfig } from "../driver/driven-agent.ts";
import type { AttachedGraph } from "./attach-saver.ts";
import type { GraphInput } from "../driver/graph-input.ts";
import { NO_TASK } from "../driver/task-writes.ts";

/** Channel of the writes in which inputs are kept, beside the checkpoint that they are given to. */
const KEPT = "__reprise_input__";

/** LangGraph's channel of a graph's input, which a node that is chosen gets for its trigger, too. */
const START = "__start__";

/** What is stored of an input. */
type KeptInput =
  | { readonly messages: readonly BaseMessage[]; readonly values: object }
  | { readonly command: CommandFields };

interface CommandFields {
  readonly goto: readonly unknown[];
  readonly update: unknown;
  readonly resume: unknown;
}

/**
 * True if a kill before the graph's next checkpoint would lose something of the input: texts have
 * rows, and answers to questions are stored otherwise. What is given after a kept input is kept,
 * too: only the last one counts.
 */
export function mustKeep(input: GraphInput, tuple: CheckpointTuple | undefined): boolean {
  if (input.kind === "continue") {
    return false;
  }
  const hasRows = input.kind === "new" ? input.isText : !changesState(fieldsOf(input.command));
  return !hasRows || keptWrites(tuple).length > 0;
}

interface Keeping extends Pick<AttachedGraph, "graph"> {
  readonly saver: BaseCheckpointSaver;
  readonly config: ThreadConfig;
  readonly input: GraphInput;
}

/**
 * Stores the input before the exchange begins. It ends with the checkpoint that takes it.
 *
 * Error codes: `agent_failed` for a value that cannot be stored.
 */
export async function keepInput({ saver, config, input, graph }: Keeping): Promise<void> {
  if (input.kind === "continue") {
    return;
  }
  const tuple = await saver.getTuple(config);
  const kept: KeptInput =
    input.kind === "new"
      ? { messages: input.messages, values: storedValues(input.values, graph) }
      : { command: fieldsOf(input.command) };
  const at = tuple?.config ?? (await putFirst(saver, config, input));
  await saver.putWrites(at, [[KEPT, kept]], `${KEPT}${keptWrites(tuple).length}`, "");
}

/** The last input that the graph was given and has not stored; null if there is none. */
export function keptInput(
  tuple: CheckpointTuple | undefined,
): Exclude<GraphInput, { kind: "continue" }> | null {
  const last = keptWrites(tuple).at(-1);
  const isTaken = tuple?.pendingWrites?.some(
    ([task, channel]) => task === NO_TASK && channel !== RESUME,
  );
  if (last === undefined || isTaken === true) {
    return null;
  }
  if ("messages" in last) {
    const { messages, values } = last;
    return { kind: "new", messages, values: { ...values }, isText: false };
  }
  const { resume } = last.command;
  return { kind: "command", command: last.command, resumes: resume !== undefined };
}

/**
 * Stores what a kept Command changes as LangGraph does when it takes one, so that continuing is enough.
 * Its class is the graph's: it cannot be made again here.
 */
export async function storeCommand(
  saver: BaseCheckpointSaver,
  { config }: CheckpointTuple,
  command: object,
): Promise<void> {
  const { goto, update } = fieldsOf(command);
  const updates = Array.isArray(update) ? update : Object.entries(update ?? {});
  const writes = [
    ...goto.map((next) =>
      typeof next === "string" ? [`branch:to:${next}`, START] : [TASKS, next],
    ),
    ...updates,
  ];
  await saver.putWrites(config, writes as PendingWrite[], NO_TASK, "");
}

/** In the order in which they were kept. */
function keptWrites(tuple: CheckpointTuple | undefined): readonly KeptInput[] {
  const kept = (tuple?.pendingWrites ?? []).filter(([, channel]) => channel === KEPT);
  const number = ([task]: readonly [string, ...unknown[]]) => Number(task.slice(KEPT.length));
  return kept
    .toSorted((one, other) => number(one) - number(other))
    .map(([, , value]) => value as KeptInput);
}

function fieldsOf(command: object): CommandFields {
  const goto: unknown = Reflect.get(command, "goto") ?? [];
  return {
    goto: Array.isArray(goto) ? goto : [goto],
    update: Reflect.get(command, "update"),
    resume: Reflect.get(command, "resume"),
  };
}

function changesState({ goto, update }: CommandFields): boolean {
  return goto.length > 0 || (update !== undefined && update !== null);
}

/** Without what LangGraph does not take, and what it never stores. */
function storedValues(values: object, { channels }: AttachedGraph["graph"]): object {
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => {
      const channel = channels[name];
      return (
        typeof channel === "object" &&
        channel !== null &&
        Reflect.get(channel, "lc_graph_name") !== "UntrackedValue"
      );
    }),
  );
}

/** A thread without checkpoints gets an empty one, as LangGraph assumes it. */
function putFirst(saver: BaseCheckpointSaver, config: ThreadConfig, { kind }: GraphInput) {
  // LangGraph continues only a thread that has a version, and a Command is continued
  const versions = kind === "command" ? [[START, saver.getNextVersion(undefined)]] : [];
  return saver.put(
    { configurable: { ...config.configurable, checkpoint_ns: "" } },
    { ...emptyCheckpoint(), channel_versions: Object.fromEntries(versions) },
    { source: "input", step: BEFORE_FIRST, parents: {} },
    {},
  );
}
