import type { BaseMessage } from "@langchain/core/messages";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { ChatAnthropic } from "@langchain/anthropic";

import type { IdleLimits } from "../../exchange/models/config.ts";
import { receiveStream } from "./receive-stream.ts";

type Fields = NonNullable<ConstructorParameters<typeof ChatAnthropic>[0]>;

/** LangChain's client of Anthropic. Its streams are received as `receiveStream` describes. */
export class AnthropicClient extends ChatAnthropic {
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
}
