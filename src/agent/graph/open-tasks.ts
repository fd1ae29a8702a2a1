import { type BaseMessage, ToolMessage, type ToolCall } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";
import { type CheckpointTuple, TASKS } from "@langchain/langgraph-checkpoint";

import { NO_FACTS } from "../../core/calls.ts";
import { callsOf } from "../messages/message-calls.ts";
import {
  closedId,
  messagesOf,
  type OpenCall,
  isStandIn,
  unanswered,
} from "../messages/thread-state.ts";
import type { AttachedGraph } from "./attach-saver.ts";
import { openQuestions } from "../driver/questions.ts";
import { isDone } from "../driver/task-writes.ts";

/** A thread whose exchange stopped. */
export interface StoppedThread {
  readonly snapshot: StateSnapshot;
  readonly tuple: CheckpointTuple;
  readonly graph: AttachedGraph["graph"];
  /** True for a message that the thread had when the exchange began. */
  readonly isEarlier: (message: BaseMessage) => boolean;
}

/** A task that LangGraph runs again when the exchange is continued. */
export interface OpenTask {
  readonly id: string;
  readonly node: string;
  /** True if it asks a person and was not answered. */
  readonly waits: boolean;
  /** The calls in `messages` that it was to run; none if it waits. */
  readonly calls: readonly OpenCall[];
}

export interface OpenWork {
  readonly tasks: readonly OpenTask[];
  /** Calls in `messages` of which it is unknown which of several tasks ran them. */
  readonly unassigned: readonly OpenCall[];
  /** All calls in `messages` that have no result there, in their order. */
  readonly calls: readonly OpenCall[];
}

/** What the exchange left undone. */
export function openWork(thread: StoppedThread): OpenWork {
  const { snapshot, tuple } = thread;
  const calls = messageCalls(thread);
  const sent = sentCalls(calls, thread);
  const taken = new Set<ToolCall | undefined>(sent.values());
  const results = pulledResults(thread);
  const found = calls.map((call): OpenCall => {
    const task = [...sent].find(([, each]) => each === call)?.[0];
    const all = task === undefined ? results : resultsOf(task, tuple);
    const at = all.findIndex((message) => closedId(message) === (call.id ?? ""));
    // one result closes one call, whatever ids a model gives
    const [result = null] = at === -1 ? [] : all.splice(at, 1);
    const { id = "", name, args } = call;
    return { id, name, args, ...NO_FACTS, result };
  });
  const open = snapshot.tasks.filter(({ id }) => !isDone(id, tuple.pendingWrites));
  const waiting = new Set(open.filter(({ id }) => openQuestions(id, tuple).length > 0));
  const pulled = open.filter((task) => !waiting.has(task) && task.path?.[0] !== PUSHED);
  const takers = pulled.length > 1 ? pulled.filter(({ name }) => hasTools(name, thread)) : pulled;
  const left = found.filter(({ result }, at) => result === null && !taken.has(calls[at]));
  const isAssigned = takers.length === 1;
  return {
    calls: found,
    unassigned: isAssigned || pulled.length === 0 ? [] : left,
    tasks: open.map((task) => ({
      id: task.id,
      node: task.name,
      waits: waiting.has(task),
      calls: waiting.has(task)
        ? []
        : [
            ...found.filter((_, at) => calls[at] !== undefined && sent.get(task.id) === calls[at]),
            ...(isAssigned && task === takers[0] ? left : []),
          ],
    })),
  };
}

/** The first member of a task's path if a `Send` began it. */
const PUSHED = "__pregel_push";

/**
 * The calls without a result in `messages`: of the last answer that calls tools. If other messages
 * came after it, it counts unless it is of an earlier exchange, which may have left its calls open.
 */
function messageCalls({ tuple, isEarlier }: StoppedThread): readonly ToolCall[] {
  const messages = messagesOf(tuple);
  const at = messages.findLastIndex((message) => callsOf(message).length > 0);
  const answer = messages[at];
  const later = messages.slice(at + 1);
  if (answer === undefined || (!later.every(isResult) && isEarlier(answer))) {
    return [];
  }
  return unanswered(callsOf(answer), later.filter(isResult));
}

function isResult(message: BaseMessage): message is ToolMessage {
  return ToolMessage.isInstance(message);
}

/** The call that each task was sent, by task: agents of LangChain send each call to a task. */
function sentCalls(
  calls: readonly ToolCall[],
  { snapshot, tuple }: StoppedThread,
): ReadonlyMap<string, ToolCall> {
  const sends: unknown = tuple.checkpoint.channel_values[TASKS];
  const sent = new Map<string, ToolCall>();
  for (const { id, path } of snapshot.tasks) {
    const [kind, index] = path ?? [];
    if (kind !== PUSHED || !Array.isArray(sends) || typeof index !== "number") {
      continue;
    }
    const argument: unknown = memberOf(sends[index], "args");
    const values = typeof argument === "object" && argument !== null ? Object.values(argument) : [];
    const taken = new Set(sent.values());
    const call = calls.find(
      (each) => !taken.has(each) && [argument, ...values].some((value) => isCall(value, each)),
    );
    if (call !== undefined) {
      sent.set(id, call);
    }
  }
  return sent;
}

function isCall(value: unknown, { id = "", name }: ToolCall): boolean {
  const given = memberOf(value, "id") ?? "";
  const named = memberOf(value, "name");
  return given === id && (named === name || (named === undefined && id !== ""));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Results of tools that finished beside one that did not: they wait in the pending writes. */
function resultsOf(task: string, { pendingWrites = [] }: CheckpointTuple): ToolMessage[] {
  return (
    pendingWrites
      .filter(([id, channel]) => id === task && channel === "messages")
      .flatMap(([, , value]): unknown[] => (Array.isArray(value) ? value : [value]))
      .filter((message) => ToolMessage.isInstance(message))
      // left by a process that was killed while it closed open calls: no tool finished
      .filter((message) => !isStandIn(message))
  );
}

function pulledResults({ snapshot, tuple }: StoppedThread): ToolMessage[] {
  return snapshot.tasks
    .filter(({ path }) => path?.[0] !== PUSHED)
    .flatMap(({ id }) => resultsOf(id, tuple));
}

/** True for LangGraph's and LangChain's nodes of tools. */
function hasTools(node: string, { graph }: StoppedThread): boolean {
  return Array.isArray(memberOf(memberOf(graph.nodes[node], "bound"), "tools"));
}
