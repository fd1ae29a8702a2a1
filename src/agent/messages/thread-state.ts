import {
  AIMessage,
  BaseMessage,
  ToolMessage,
  type ToolCall as ModelCall,
} from "@langchain/core/messages";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { NO_FACTS } from "../../core/calls.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { ToolCall } from "../../core/sessions.ts";
import { OUTCOME_UNKNOWN } from "../../core/text/outcome-unknown.ts";
import { callFactsOf, STAND_IN } from "../../store/records/messages/call-facts.ts";
import { isSummary } from "../../store/records/messages/summary.ts";
import { keptIn, startsIn } from "./begun-calls.ts";
import { providerIdsOf } from "./call-ids.ts";
import { answerText, isUnfinished } from "./ended-answer.ts";
import { keepStatus } from "./keep-facts.ts";
import { callsOf } from "./message-calls.ts";

/** A tool call without a result in the checkpoint, and its result if the tool had finished. */
export interface OpenCall extends ToolCall {
  readonly result: ToolMessage | null;
}

/** What a thread's latest checkpoint says about how the last exchange ended. */
export interface ThreadState {
  readonly openCalls: readonly OpenCall[];
  /** Ids of open calls that certainly did not begin: none of an answer that Reprise did not name the calls of. */
  readonly notBegun: ReadonlySet<string>;
  /** Ids of open calls that continue with what they have kept when they are run again, and so act once. */
  readonly continuing: ReadonlySet<string>;
  /** How often tools have begun on the checkpoint. */
  readonly starts: number;
  /** Text of the last answer, after that of the answers which it continues; empty if there is none. */
  readonly answer: string;
  /** True if the last message is what had arrived of an answer when its provider failed. */
  readonly isDropped: boolean;
  /** True if the last message is an answer that the model is to continue. */
  readonly isUnfinished: boolean;
}

/** Undefined for a thread without checkpoints. */
export function threadStateOf(tuple: CheckpointTuple | undefined): ThreadState {
  const messages = messagesOf(tuple);
  const finished = finishedResults(tuple);
  const { calls, areMarked } = openCalls(messages);
  const starts = startsIn(tuple ?? {});
  const begun = new Set(starts.map(({ id }) => id));
  const kept = keptIn(tuple ?? {});
  const still = areMarked ? calls.map(({ id }) => id).filter((id) => !begun.has(id)) : [];
  return {
    starts: starts.length,
    notBegun: new Set(still.filter((id) => !kept.has(id))),
    continuing: new Set(still.filter((id) => kept.has(id))),
    openCalls: calls.map((call) => ({ ...call, result: finished.get(call.id) ?? null })),
    answer: answerText(messages),
    isDropped: droppedAnswer(messages) !== null,
    isUnfinished: isUnfinished(messages.at(-1)),
  };
}

/** LangGraph's step before the first: that of an empty checkpoint. */
export const BEFORE_FIRST = -2;

/** False also for a thread that only keeps what its first exchange is to be given. */
export function hasBegun(tuple: CheckpointTuple | undefined): boolean {
  return tuple !== undefined && tuple.metadata?.step !== BEFORE_FIRST;
}

/** The messages of a thread's latest checkpoint; none for a thread that has not begun. */
export function messagesOf(tuple: CheckpointTuple | undefined): readonly BaseMessage[] {
  const messages = tuple?.checkpoint.channel_values["messages"];
  if (Array.isArray(messages)) {
    return messages as BaseMessage[];
  }
  // a channel without a reducer may hold one message
  return BaseMessage.isInstance(messages) ? [messages] : [];
}

/** In an answer's `response_metadata`: the code of the failure that cut it off. */
const DROPPED = "dropped";

/**
 * What marks a dropped answer. Its usage is nothing: the provider has counted none, and the answer
 * that takes its place is counted then.
 */
export function droppedFields(code: ErrorCode) {
  return {
    response_metadata: { [DROPPED]: code },
    usage_metadata: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  };
}

/** True for what had arrived of an answer when its provider failed. */
export function isDropped(message: BaseMessage): boolean {
  return AIMessage.isInstance(message) && DROPPED in message.response_metadata;
}

/**
 * The dropped answer at the end of a thread, if there is one. The model has not seen it, and the
 * answer of the next attempt takes its place: its id, and so its row.
 */
export function droppedAnswer(messages: readonly BaseMessage[]): BaseMessage | null {
  const last = messages.at(-1);
  return last !== undefined && isDropped(last) ? last : null;
}

/** True for a call whose tool had finished, and for tools that may be run again. */
export function mayBeRepeated(call: OpenCall, isRepeatable: (name: string) => boolean): boolean {
  return call.result !== null || isRepeatable(call.name);
}

/** The result of a tool call that certainly took no effect, such as a question without an answer. */
export const NOT_RUN = "Not run: the exchange ended before this call began.";

/** True for a result that no tool has given. */
export function isStandIn({ response_metadata }: Pick<ToolMessage, "response_metadata">): boolean {
  return STAND_IN in response_metadata;
}

/**
 * Answers for the tool calls that a stopped exchange left open, in the order of the calls: the
 * result if the tool had finished, else "not run" or "outcome unknown". Every provider refuses a history in
 * which a call has no result, so these go in front of the next user message.
 */
export function withResults(
  openCalls: readonly OpenCall[],
  notBegun: ReadonlySet<string> = new Set(),
): ToolMessage[] {
  return openCalls.map(({ id, name, result }) => {
    const isRun = !notBegun.has(id);
    const content = isRun ? OUTCOME_UNKNOWN : NOT_RUN;
    const standIn = new ToolMessage({
      content,
      tool_call_id: id,
      name,
      status: "error",
      response_metadata: { [STAND_IN]: true },
    });
    return result ?? keepStatus(standIn, isRun ? "unknown" : "not_run");
  });
}

interface OpenCalls {
  readonly calls: readonly ToolCall[];
  /** True if a call that begins is stored as begun; exports of the builds before the baseline may have other answers. */
  readonly areMarked: boolean;
}

/** Calls of the last assistant message that no tool message answers. */
function openCalls(messages: readonly BaseMessage[]): OpenCalls {
  const results: ToolMessage[] = [];
  for (const message of messages.toReversed()) {
    if (ToolMessage.isInstance(message)) {
      results.push(message);
      continue;
    }
    if (isSummary(message)) {
      continue;
    }
    const made = callsOf(message);
    const facts = callFactsOf(message, made.length);
    const calls = made.map(({ id = "", name, args }, at) => {
      const known = facts[at] ?? NO_FACTS;
      return { id, name, args, ...known };
    });
    return {
      calls: unanswered(calls, results),
      areMarked: providerIdsOf(message) !== null,
    };
  }
  return { calls: [], areMarked: false };
}

/** The calls that have no result. A result is that of one call only, even if several have its id. */
export function unanswered<Call extends Pick<ModelCall, "id">>(
  calls: readonly Call[],
  results: readonly ToolMessage[],
): readonly Call[] {
  const left = results.map(closedId);
  return calls.filter(({ id = "" }) => {
    const at = left.indexOf(id);
    left.splice(at, at === -1 ? 0 : 1);
    return at === -1;
  });
}

/** The id of the call that a result closes; empty for a call that has none. */
export function closedId({ tool_call_id }: { readonly tool_call_id?: string }): string {
  return tool_call_id ?? "";
}

/** Results of tools that finished beside one that did not: they wait in the pending writes. */
export function finishedResults(tuple: CheckpointTuple | undefined): Map<string, ToolMessage> {
  const results = new Map<string, ToolMessage>();
  for (const [, channel, value] of tuple?.pendingWrites ?? []) {
    if (channel !== "messages") {
      continue;
    }
    for (const message of Array.isArray(value) ? value : [value]) {
      // left by a process that was killed while it closed open calls: no tool finished
      if (ToolMessage.isInstance(message) && !isStandIn(message)) {
        results.set(message.tool_call_id, message);
      }
    }
  }
  return results;
}
