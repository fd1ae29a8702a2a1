import type { BaseMessage } from "@langchain/core/messages";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { ChatOllama } from "@langchain/ollama";

import type { IdleLimits } from "../../exchange/models/config.ts";
import { receiveStream } from "./receive-stream.ts";

type Fields = NonNullable<ConstructorParameters<typeof ChatOllama>[0]>;

/** LangChain's client of Ollama. Its streams are received as `receiveStream` describes. */
export class OllamaClient extends ChatOllama {
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
      open: (signal) => {
        // this client looks at its signal only when something arrives
        signal.addEventListener("abort", () => this.client.abort());
        return super._streamResponseChunks(messages, { ...options, signal }, runManager);
      },
    });
  }
}
