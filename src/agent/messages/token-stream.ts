import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

import { endOf } from "../models/answer-end.ts";
import { reasoningIn } from "../models/arriving-reasoning.ts";

/** Called with each piece of text of the answer `id` while the model still writes. */
export type OnText = (id: string, text: string) => void;

/** Called with what arrives of answers. */
export interface Heard {
  readonly onText: OnText;
  /** A piece may be empty: the model thinks, and its provider does not show what. */
  readonly onReasoning: OnText;
}

export type CallbackParameters<Method extends keyof BaseCallbackHandler> = Parameters<
  Extract<BaseCallbackHandler[Method], (...given: never[]) => unknown>
>;

/**
 * Hears the text of models as it arrives, and makes them stream it. LangGraph's own stream of
 * messages takes note of every message of the thread at every step; this one of none.
 */
export abstract class TextHandler extends BaseCallbackHandler {
  readonly lc_prefer_streaming = true;
  override awaitHandlers = true;
  override raiseError = true;
  override ignoreRetriever = true;
  readonly #heard: Heard;
  /** Ids of answers by their runs; null until the first chunk. */
  readonly #answers = new Map<string, string | null>();

  constructor(heard: Heard) {
    super();
    this.#heard = heard;
  }

  /**
   * Returns the id of the answer that a model begins: null if its first chunk has it, undefined if nobody is to see
   * the text.
   */
  protected abstract answerOf(
    ...given: CallbackParameters<"handleChatModelStart">
  ): string | null | undefined;

  override handleChatModelStart(...given: CallbackParameters<"handleChatModelStart">): void {
    const [, , runId] = given;
    const id = this.answerOf(...given);
    if (id !== undefined) {
      this.#answers.set(runId, id);
    }
  }

  override handleLLMNewToken(...given: CallbackParameters<"handleLLMNewToken">): void {
    const [token, , runId, , , fields] = given;
    const known = this.#answers.get(runId);
    if (known === undefined) {
      return;
    }
    const message = messageOf(fields?.chunk);
    // as LangChain does: an answer without an id gets that of its run
    const id = known ?? message?.id ?? `run-${runId}`;
    this.#answers.set(runId, id);
    const reasoning = reasoningIn(fields?.chunk);
    if (reasoning !== null) {
      this.#heard.onReasoning(id, reasoning);
    }
    const text = message?.text ?? token;
    if (text !== "") {
      this.#heard.onText(id, text);
    }
  }

  override handleLLMEnd(output: LLMResult, runId: string): void {
    if (this.#answers.delete(runId)) {
      this.ended(output);
    }
  }

  /** Called with what a model has written that somebody is to see. */
  protected ended(_output: LLMResult): void {}

  override handleLLMError(_error: unknown, runId: string): void {
    this.#answers.delete(runId);
  }
}

/**
 * In the metadata of a call whose text is an answer to the user: the answer's id. Tools may call
 * other models.
 */
export const ANSWER_ID = "reprise_answer_id";

/** Hears the answers of the built-in agent. */
export class AnswerHandler extends TextHandler {
  readonly name = "reprise_arriving_text";
  override ignoreAgent = true;
  override ignoreChain = true;
  readonly #answered: () => void;

  /**
   * `answered` is called when the model has written an answer that calls no tool: nothing is left to do but to
   * store it.
   */
  constructor(heard: Heard, answered: () => void) {
    super(heard);
    this.#answered = answered;
  }

  protected override answerOf(
    ...[, , , , , , metadata]: CallbackParameters<"handleChatModelStart">
  ): string | undefined {
    const id = metadata?.[ANSWER_ID];
    return typeof id === "string" ? id : undefined;
  }

  protected override ended({ generations }: LLMResult): void {
    const [generation] = generations[0] ?? [];
    if (generation !== undefined && isLast(generation)) {
      this.#answered();
    }
  }
}

function isLast(generation: object): boolean {
  const message: unknown = "message" in generation ? generation.message : null;
  if (!AIMessage.isInstance(message) || !["whole", "unknown"].includes(endOf(message).end)) {
    return false;
  }
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  return tool_calls.length === 0 && invalid_tool_calls.length === 0;
}

function messageOf(chunk: unknown): AIMessageChunk | null {
  return typeof chunk === "object" &&
    chunk !== null &&
    "message" in chunk &&
    AIMessageChunk.isInstance(chunk.message)
    ? chunk.message
    : null;
}
