import { oneLine } from "../../core/text/terminal-text.ts";
import type { Conversation } from "../../exchange/conversation.ts";

/** Says that another model continues the conversation, and what that costs. */
export async function switchedSentences(
  conversation: Pick<Conversation, "planned" | "contextUse">,
): Promise<string[]> {
  const model = oneLine(conversation.planned().model ?? "the default");
  const sentence = `The conversation continues with ${model}; its provider reads all of it once more, because the prompt cache begins again.`;
  const use = await conversation.contextUse();
  if (use === null || !use.isFull) {
    return [sentence];
  }
  const tokens = use.tokens.toLocaleString("en");
  const window = use.window.toLocaleString("en");
  return [
    sentence,
    `The conversation has about ${tokens} tokens, too many for this model's context of ${window}. The next exchange first summarises older messages for it; all of them stay readable.`,
  ];
}
