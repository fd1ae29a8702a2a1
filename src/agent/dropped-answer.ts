import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import type { ErrorCode } from "../core/errors.ts";

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
