import { type BaseMessage, ToolMessage } from "@langchain/core/messages";

import { callsOf } from "../messages/message-calls.ts";
import { tokenCountOf } from "../../store/records/messages/mirror-row.ts";

/**
 * Where to cut messages so that those from there on have `keep` tokens at most: in front of a
 * user's message if one is near enough, so that whole exchanges are kept, else in the middle of an
 * exchange. Never between a tool call and its result. The last message stays, with the call it
 * answers, however large. 0 if nothing can go.
 */
export function cutToFit(messages: readonly BaseMessage[], keep: number): number {
  const safe = safeCuts(messages);
  const tokens = tokensFrom(messages);
  const fitting = safe.filter((at) => (tokens[at] ?? 0) <= keep);
  return fitting.find((at) => messages[at]?.type === "human") ?? fitting[0] ?? safe.at(-1) ?? 0;
}

/** Before the last exchange; 0 if there is no earlier one. */
export function cutToLastExchange(messages: readonly BaseMessage[]): number {
  return safeCuts(messages).findLast((at) => messages[at]?.type === "human") ?? 0;
}

/** Positions, except the first, before which every call has its result; ascending. */
function safeCuts(messages: readonly BaseMessage[]): number[] {
  const safe: number[] = [];
  const unasked = new Set<string>();
  for (let at = messages.length - 1; at > 0; at -= 1) {
    const message = messages[at];
    if (ToolMessage.isInstance(message)) {
      unasked.add(message.tool_call_id);
    }
    for (const { id = "" } of callsOf(message)) {
      unasked.delete(id);
    }
    if (unasked.size === 0) {
      safe.push(at);
    }
  }
  return safe.reverse();
}

/** Tokens of the messages from each place on. */
function tokensFrom(messages: readonly BaseMessage[]): number[] {
  let sum = 0;
  return messages
    .toReversed()
    .map((message) => (sum += tokenCountOf(message)))
    .reverse();
}
