import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

export interface TokenListener {
  /** Called with each piece of text of the answer `id` while the model still writes. */
  readonly heard: (id: string, text: string) => void;
  /**
   * Called when the model has written an answer that calls no tool: nothing is left to do but to
   * store it.
   */
  readonly answered: () => void;
}

/**
 * In the metadata of a call whose text is an answer to the user: the answer's id. Tools may call
 * other models.
 */
export const ANSWER_ID = "reprise_answer_id";

/**
 * Hears a model's text as it arrives, and makes the model stream it. LangGraph's own stream of
 * messages takes note of every message of the thread at every step; this one of none.
 */
export class TokenStreamHandler extends BaseCallbackHandler {
  readonly name = "reprise_arriving_text";
  readonly lc_prefer_streaming = true;
  override awaitHandlers = true;
  override raiseError = true;
  override ignoreChain = true;
  override ignoreAgent = true;
  override ignoreRetriever = true;
  readonly #text: TokenListener;
  /** Ids of answers by their runs. */
  readonly #answers = new Map<string, string>();

  constructor(text: TokenListener) {
    super();
    this.#text = text;
  }

  override handleChatModelStart(
    ...[, , runId, , , , metadata]: CallbackParameters<"handleChatModelStart">
  ): void {
    const id = metadata?.[ANSWER_ID];
    if (typeof id === "string") {
      this.#answers.set(runId, id);
    }
  }

  override handleLLMNewToken(
    ...[token, , runId, , , fields]: CallbackParameters<"handleLLMNewToken">
  ): void {
    const text = textOf(fields?.chunk) ?? token;
    const id = this.#answers.get(runId);
    if (text !== "" && id !== undefined) {
      this.#text.heard(id, text);
    }
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const [generation] = generations[0] ?? [];
    if (this.#answers.delete(runId) && generation !== undefined && isLast(generation)) {
      this.#text.answered();
    }
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#answers.delete(runId);
  }
}

type CallbackParameters<Method extends "handleChatModelStart" | "handleLLMNewToken"> = Parameters<
  NonNullable<BaseCallbackHandler[Method]>
>;

function isLast(generation: object): boolean {
  const message: unknown = "message" in generation ? generation.message : null;
  if (!AIMessage.isInstance(message)) {
    return false;
  }
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  return tool_calls.length === 0 && invalid_tool_calls.length === 0;
}

function textOf(chunk: unknown): string | null {
  return typeof chunk === "object" &&
    chunk !== null &&
    "message" in chunk &&
    AIMessageChunk.isInstance(chunk.message)
    ? chunk.message.text
    : null;
}
