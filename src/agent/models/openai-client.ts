import type { BaseMessage, BaseMessageChunk } from "@langchain/core/messages";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { ChatOpenAI, ChatOpenAICompletions, type OpenAIClient } from "@langchain/openai";

import type { IdleLimits } from "../../exchange/models/config.ts";
import { receiveStream } from "./receive-stream.ts";

type Fields = NonNullable<ConstructorParameters<typeof ChatOpenAICompletions>[0]>;

/**
 * LangChain's client of OpenAI's chat completions, for compatible servers too: what a server streams
 * without a role is the assistant's. LangChain makes it a message of no role instead, and the text
 * and the tool calls are lost. Its streams are received as `receiveStream` describes.
 */
export function openAiClient(fields: Fields, idle: IdleLimits): ChatOpenAI {
  return new ChatOpenAI({
    ...fields,
    useResponsesApi: false,
    completions: new Completions(fields, idle),
  });
}

class Completions extends ChatOpenAICompletions {
  readonly #idle: IdleLimits;

  constructor(fields: Fields, idle: IdleLimits) {
    super(fields);
    this.#idle = idle;
  }

  override _streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    return receiveStream({
      limits: this.#idle,
      signal: options.signal,
      open: (signal) => super._streamResponseChunks(messages, { ...options, signal }, runManager),
    });
  }

  protected override _convertCompletionsDeltaToBaseMessageChunk(
    delta: Record<string, unknown>,
    raw: OpenAIClient.Chat.Completions.ChatCompletionChunk,
  ): BaseMessageChunk {
    const role = delta["role"] || "assistant";
    return super._convertCompletionsDeltaToBaseMessageChunk({ ...delta, role }, raw);
  }
}
