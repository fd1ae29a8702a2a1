import { BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../../core/errors.ts";
import { NO_FACTS } from "../../core/calls.ts";
import type { MadeCall } from "../../core/sessions.ts";
import { callsOf } from "../messages/message-calls.ts";
import { mayBeRepeated, type OpenCall, unanswered } from "../messages/thread-state.ts";
import { type OpenTask, openWork, type OpenWork, type StoppedThread } from "./open-tasks.ts";
import type { StartedTool } from "./started-tools.ts";
import type { SubgraphState } from "./subgraph-states.ts";

/** A call that may have taken effect and would run again. */
export interface Suspect {
  readonly call: MadeCall;
  /** The task that ends if the call gets the result "outcome unknown"; null if none can. */
  readonly task: OpenTask | null;
}

export interface StoppedRun {
  readonly thread: Omit<StoppedThread, "isEarlier">;
  readonly started: readonly StartedTool[];
  readonly subgraphs: readonly SubgraphState[];
  /** Names of the tools that may be run twice. */
  readonly repeatable: readonly string[];
}

/**
 * The calls that need a yes to run again: those of tools that are known to have begun, and open
 * calls of the state that a task was given, because a node may run them without LangChain's tools.
 * A task that waits for a person has not been given its answer: only what began in it counts.
 */
export function suspectsOf(
  run: StoppedRun,
  isEarlier: StoppedThread["isEarlier"],
): readonly Suspect[] {
  const { thread, started, repeatable } = run;
  const work = openWork({ ...thread, isEarlier });
  const isUnsafe = (call: OpenCall): boolean =>
    !mayBeRepeated(call, (name) => repeatable.includes(name));
  const ofState = [
    ...work.tasks.flatMap((task) => task.calls.filter(isUnsafe).map((call) => ({ call, task }))),
    ...work.unassigned.filter(isUnsafe).map((call) => ({ call, task: null })),
  ];
  const ofTools = lastAttempts(started)
    .filter((tool) => !work.tasks.some((task) => runs(task, tool)))
    .filter(({ name }) => !repeatable.includes(name))
    .map((tool) => ({ call: tool, task: taskAround(tool, { work, started }) }));
  const known = [...work.calls, ...started];
  const elsewhere = channelCalls(run, work, isEarlier).filter(
    ({ call }) => isUnsafe(call) && !known.some((each) => isSame(each, call)),
  );
  return [...ofState, ...ofTools, ...elsewhere];
}

/** Each tool as often as it began in one attempt: what was repeated with a yes began in several. */
function lastAttempts(started: readonly StartedTool[]): readonly StartedTool[] {
  const attempts = Map.groupBy(started, ({ attempt }) => attempt);
  const counted = [...attempts.values()].map((tools) => Map.groupBy(tools, keyOf));
  const keys = new Set(started.map(keyOf));
  return [...keys].flatMap((key) =>
    counted
      .map((tools) => tools.get(key) ?? [])
      .reduce((most, tools) => (tools.length > most.length ? tools : most), []),
  );
}

function keyOf({ id, name, args, task, isNested }: StartedTool): string {
  return JSON.stringify([id, name, args, task, isNested]);
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
  { task: id, isNested }: Pick<StartedTool, "task" | "isNested">,
  { work, started }: { readonly work: OpenWork; readonly started: readonly StartedTool[] },
): OpenTask | null {
  const task = work.tasks.find((each) => each.id === id);
  if (task === undefined || !isNested) {
    return null;
  }
  return started.some((tool) => !tool.isNested && runs(task, tool)) ? task : null;
}

/** Open calls that are not in `messages`: in other channels, and in graphs within the tasks. */
function channelCalls(
  { thread: { tuple }, subgraphs, started }: StoppedRun,
  work: OpenWork,
  isEarlier: StoppedThread["isEarlier"],
): readonly { readonly call: OpenCall; readonly task: OpenTask | null }[] {
  const running = work.tasks.filter(({ waits }) => !waits);
  if (running.length === 0) {
    return [];
  }
  const own = callsIn(tuple, isEarlier).filter(([name]) => name !== "messages");
  return [
    ...own.map(([, call]) => ({ call, task: null })),
    ...subgraphs
      .filter(({ task }) => running.some(({ id }) => id === task))
      .flatMap(({ task, tuple: inner }) =>
        callsIn(inner, isEarlier).map(([, call]) => ({
          call,
          task: taskAround({ task, isNested: true }, { work, started }),
        })),
      ),
  ];
}

/** The open calls of each channel. A result in any channel closes a call. */
function callsIn(
  { checkpoint, pendingWrites = [] }: CheckpointTuple,
  isEarlier: StoppedThread["isEarlier"],
): readonly (readonly [channel: string, call: OpenCall])[] {
  const channels = Object.entries(checkpoint.channel_values);
  const results = [...channels.map(([, value]) => value), ...pendingWrites.map((write) => write[2])]
    .flatMap(messagesIn)
    .filter((message) => ToolMessage.isInstance(message));
  return channels.flatMap(([channel, value]) => {
    const answer = messagesIn(value).findLast(
      (message) => callsOf(message).length > 0 && !isEarlier(message),
    );
    return unanswered(callsOf(answer), results).map(({ id = "", name, args }) => {
      const call = { id, name, args, ...NO_FACTS, result: null };
      return [channel, call] as const;
    });
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
    "A tool call may have taken effect, and the graph cannot continue without its result. Send a new message, which skips it; a program can also run it again (`repeats`).",
  );
}
