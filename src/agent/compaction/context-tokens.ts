import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import { estimateTokens } from "../../core/text.ts";
import { tokenCountOf } from "../../store/messages/mirror-row.ts";
import type { View } from "./view.ts";

/**
 * Tokens that the model would read now: what the provider counted with its last answer to this
 * view, and estimates of what came after; estimates alone where it has not counted yet.
 */
export function contextTokens(
  messages: readonly BaseMessage[],
  view: View,
  systemPrompt: string,
): number {
  for (let at = messages.length - 1; at >= view.since; at -= 1) {
    const counted = countedTokens(messages[at]);
    if (counted > 0) {
      return counted + sumTokens(messages.slice(at + 1));
    }
  }
  const { summary, request, kept } = view;
  const shown = [summary, request, ...kept].filter((message) => message !== null);
  return estimateTokens(systemPrompt) + sumTokens(shown);
}

function countedTokens(message: BaseMessage | undefined): number {
  if (!AIMessage.isInstance(message)) {
    return 0;
  }
  const { input_tokens = 0, output_tokens = 0 } = message.usage_metadata ?? {};
  return input_tokens > 0 ? input_tokens + output_tokens : 0;
}

function sumTokens(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + tokenCountOf(message), 0);
}
