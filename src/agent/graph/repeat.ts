import { isDeepStrictEqual } from "node:util";

import { BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";

import { RepriseError } from "../../core/errors.ts";
import { callsOf } from "../sendable-messages.ts";
import { mayBeRepeated, type OpenCall, unanswered } from "../thread-state.ts";
import { type OpenTask, openWork, type OpenWork, type StoppedThread } from "./open-tasks.ts";
import type { StartedTool } from "./started-tools.ts";

/** A call that may have taken effect and would run again. */
export interface Suspect {
  readonly call: Pick<OpenCall, "id" | "name" | "args">;
  /** The task that ends if the call gets the result "outcome unknown"; null if none can. */
  readonly task: OpenTask | null;
}

export interface StoppedRun {
  readonly thread: Omit<StoppedThread, "isEarlier">;
  readonly started: readonly StartedTool[];
  /** Names of the tools that may be run twice. */
  readonly repeatable: readonly string[];
}

/**
 * The calls that need a yes to run again: those of tools that are known to have begun, and open
 * calls of the state that a task was given, because a node may run them without LangChain's tools.
 * A task that waits for a person has not been given its answer: only what began in it counts.
 */
export function suspectsOf(
  { thread, started, repeatable }: StoppedRun,
  isEarlier: StoppedThread["isEarlier"],
): readonly Suspect[] {
  const work = openWork({ ...thread, isEarlier });
  const isUnsafe = (call: OpenCall): boolean => !mayBeRepeated(call, repeatable);
  const ofState = [
    ...work.tasks.flatMap((task) => task.calls.filter(isUnsafe).map((call) => ({ call, task }))),
    ...work.unassigned.filter(isUnsafe).map((call) => ({ call, task: null })),
  ];
  const ofTools = started
    .filter((tool) => !work.tasks.some((task) => runs(task, tool)))
    .filter(({ name }) => !repeatable.includes(name))
    // one that was repeated with a yes began more than once
    .filter((tool, at, all) => all.findIndex((each) => isDeepStrictEqual(each, tool)) === at)
    .map((tool) => ({ call: tool, task: taskAround(tool, { work, started }) }));
  const known = [...work.calls, ...started];
  const elsewhere = channelCalls({ thread, work, isEarlier })
    .filter((call) => isUnsafe(call) && !known.some((each) => isSame(each, call)))
    .map((call) => ({ call, task: null }));
  return [...ofState, ...ofTools, ...elsewhere];
}

type Named = Pick<OpenCall, "id" | "name">;

/** A node may run a tool without the id of its call, and models give calls without ids. */
function isSame(one: Named, other: Named): boolean {
  return one.id === "" || other.id === "" ? one.name === other.name : one.id === other.id;
}

function runs({ id, calls }: OpenTask, tool: StartedTool): boolean {
  return tool.task === id && calls.some((call) => isSame(call, tool));
}

/** The task that ends with the tool, if the tool runs within one of the task's own calls. */
function taskAround(
  { task: id, isNested }: StartedTool,
  { work, started }: { readonly work: OpenWork; readonly started: readonly StartedTool[] },
): OpenTask | null {
  const task = work.tasks.find((each) => each.id === id);
  if (task === undefined || !isNested) {
    return null;
  }
  return started.some((tool) => !tool.isNested && runs(task, tool)) ? task : null;
}

/** Open calls that are not in `messages`: in other channels, and in subgraphs. */
function channelCalls({
  thread: { snapshot },
  work,
  isEarlier,
}: Pick<StoppedThread, "isEarlier"> & {
  readonly thread: StoppedRun["thread"];
  readonly work: OpenWork;
}): readonly OpenCall[] {
  const running = new Set(work.tasks.filter(({ waits }) => !waits).map(({ id }) => id));
  if (running.size === 0) {
    return [];
  }
  const { messages, ...others } = valuesOf(snapshot);
  const own = Array.isArray(messages) ? others : { ...others, messages };
  const nested = snapshot.tasks.filter(({ id }) => running.has(id)).flatMap(subgraphValues);
  return [
    ...callsIn(own, messagesIn(messages), isEarlier),
    ...nested.flatMap((values) => callsIn(values, [], isEarlier)),
  ];
}

/** The values of the subgraphs that the task was running. */
function subgraphValues({ state }: StateSnapshot["tasks"][number]): Record<string, unknown>[] {
  if (state === undefined || !("tasks" in state) || state.tasks.length === 0) {
    return [];
  }
  return [valuesOf(state), ...state.tasks.flatMap(subgraphValues)];
}

function valuesOf({ values }: StateSnapshot): Record<string, unknown> {
  return typeof values === "object" && values !== null ? (values as Record<string, unknown>) : {};
}

function callsIn(
  values: Record<string, unknown>,
  more: readonly BaseMessage[],
  isEarlier: StoppedThread["isEarlier"],
): readonly OpenCall[] {
  const channels = Object.values(values).map(messagesIn);
  const results = [...channels.flat(), ...more].filter((message) =>
    ToolMessage.isInstance(message),
  );
  return channels.flatMap((messages) => {
    const answer = messages.findLast(
      (message) => callsOf(message).length > 0 && !isEarlier(message),
    );
    return unanswered(callsOf(answer), results).map(({ id = "", name, args }) => ({
      id,
      name,
      args,
      result: null,
    }));
  });
}

function messagesIn(value: unknown): readonly BaseMessage[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((message) => BaseMessage.isInstance(message));
}

/** What is refused if a call needs a yes, has none, and cannot be given a result. */
export function refuseToRepeat(): RepriseError {
  return new RepriseError(
    "exchange_interrupted",
    "A tool call may have taken effect, and the graph cannot continue without it. Allow it to be repeated, or send a new message, which skips it.",
  );
}
