import { BaseCallbackHandler, type NewTokenIndices } from "@langchain/core/callbacks/base";
import type { Serialized } from "@langchain/core/load/serializable";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

export interface TokenListener {
  /** Only this node of the graph speaks to the user; tools may call models of their own. */
  readonly node: string;
  /** Called with each piece of text while the model still writes. */
  readonly heard: (text: string) => void;
  /** Called when the model has written an answer that calls no tool: nothing is left to do but to store it. */
  readonly answered: () => void;
}

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
  readonly #speaking = new Set<string>();

  constructor(text: TokenListener) {
    super();
    this.#text = text;
  }

  override handleChatModelStart(
    ...[, , runId, , , , metadata]: [
      Serialized,
      BaseMessage[][],
      string,
      string?,
      Record<string, unknown>?,
      string[]?,
      Record<string, unknown>?,
    ]
  ): void {
    if (metadata?.["langgraph_node"] === this.#text.node) {
      this.#speaking.add(runId);
    }
  }

  override handleLLMNewToken(
    ...[token, , runId, , , fields]: [
      string,
      NewTokenIndices,
      string,
      string?,
      string[]?,
      { chunk?: unknown }?,
    ]
  ): void {
    const text = textOf(fields?.chunk) ?? token;
    if (text !== "" && this.#speaking.has(runId)) {
      this.#text.heard(text);
    }
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const [generation] = generations[0] ?? [];
    if (this.#speaking.delete(runId) && generation !== undefined && isLast(generation)) {
      this.#text.answered();
    }
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#speaking.delete(runId);
  }
}

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
