import { AIMessageChunk } from "@langchain/core/messages";

import { textIn } from "./answer-end.ts";

/** In the `generationInfo` of a piece of reasoning that holds no text. */
export const REASONING = "reprise_reasoning";

/** In the `generationInfo` of a piece with which another paragraph of reasoning begins. */
export const REASONING_BREAK = "reprise_reasoning_break";

/**
 * Returns what a chunk of a model's stream says of its reasoning: null if it holds none, and an empty text for a
 * sign that the model thinks.
 *
 * Anthropic sends blocks of thinking, OpenAI's Responses items of reasoning, and other providers a text beside the
 * answer's.
 */
export function reasoningIn(chunk: unknown): string | null {
  if (typeof chunk !== "object" || chunk === null || !("message" in chunk)) {
    return null;
  }
  const { message } = chunk;
  if (!AIMessageChunk.isInstance(message)) {
    return null;
  }
  const { content, additional_kwargs } = message;
  const beside =
    textIn(additional_kwargs, "reasoning_content") ?? textIn(additional_kwargs, "reasoning");
  const blocks = typeof content === "string" ? [] : content.filter(isReasoning);
  const info: unknown = Reflect.get(chunk, "generationInfo");
  const isMarked =
    typeof info === "object" && info !== null && Reflect.get(info, REASONING) === true;
  if (beside === null && blocks.length === 0 && !isMarked) {
    return null;
  }
  const texts = blocks.map(
    (block) => textIn(block, "thinking") ?? textIn(block, "reasoning") ?? "",
  );
  return `${textIn(info, REASONING_BREAK) ?? ""}${beside ?? ""}${texts.join("")}`;
}

function isReasoning({ type }: { readonly type: string }): boolean {
  return type.includes("thinking") || type === "reasoning";
}
