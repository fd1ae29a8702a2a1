import { type BaseMessage, ToolMessage, type ToolCall } from "@langchain/core/messages";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";

/** The messages of a thread's latest checkpoint; none for a thread that has not begun. */
export function messagesOf(tuple: CheckpointTuple | undefined): readonly BaseMessage[] {
  const messages = tuple?.checkpoint.channel_values["messages"];
  return Array.isArray(messages) ? (messages as BaseMessage[]) : [];
}

/** What a tool call gets for a result when nobody knows whether it took effect. */
export const OUTCOME_UNKNOWN =
  "Outcome unknown: the program was stopped before this call's result was stored. It may have taken effect or not; check before you repeat it.";

/**
 * Answers for the tool calls that a stopped exchange left open, in the order of the calls: the
 * result where the tool had finished, else "outcome unknown". Every provider refuses a history in
 * which a call has no result, so these go in front of the next user message.
 */
export async function settleOpenCalls(
  saver: BaseCheckpointSaver,
  threadId: string,
): Promise<ToolMessage[]> {
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId } });
  const finished = finishedResults(tuple);
  return openCalls(messagesOf(tuple)).map(
    (call) =>
      finished.get(call.id ?? "") ??
      new ToolMessage({
        content: OUTCOME_UNKNOWN,
        tool_call_id: call.id ?? "",
        name: call.name,
        status: "error",
      }),
  );
}

/** Calls of the last assistant message that no tool message answers. */
export function openCalls(messages: readonly BaseMessage[]): readonly ToolCall[] {
  const answered = new Set<string>();
  for (const message of messages.toReversed()) {
    if (ToolMessage.isInstance(message)) {
      answered.add(message.tool_call_id);
      continue;
    }
    const calls = "tool_calls" in message ? (message.tool_calls as ToolCall[] | undefined) : [];
    return (calls ?? []).filter((call) => !answered.has(call.id ?? ""));
  }
  return [];
}

/** Results of tools that finished beside one that did not: they wait in the pending writes. */
function finishedResults(tuple: CheckpointTuple | undefined): Map<string, ToolMessage> {
  const results = new Map<string, ToolMessage>();
  for (const [, channel, value] of tuple?.pendingWrites ?? []) {
    if (channel !== "messages") {
      continue;
    }
    for (const message of Array.isArray(value) ? value : [value]) {
      if (ToolMessage.isInstance(message)) {
        results.set(message.tool_call_id, message);
      }
    }
  }
  return results;
}
