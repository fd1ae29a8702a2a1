import { AIMessage, type BaseMessage, type BaseMessageChunk } from "@langchain/core/messages";
import { ChatOpenAICompletions, type OpenAIClient } from "@langchain/openai";

import type { IdleLimits } from "../../rules/models/config.ts";
import type { Quirks } from "../../rules/models/providers.ts";
import { textIn } from "./answer-end.ts";
import { receiveStreams } from "./receive-stream.ts";

export type ClientFields = NonNullable<ConstructorParameters<typeof ChatOpenAICompletions>[0]>;

type Completions = OpenAIClient.Chat.Completions.ChatCompletion;
type CompletionChunk = OpenAIClient.Chat.Completions.ChatCompletionChunk;
type SentMessage = OpenAIClient.Chat.Completions.ChatCompletionMessageParam;

/**
 * LangChain's client of OpenAI's chat completions, for compatible servers too.
 *
 * - What a server streams without a role is the assistant's. LangChain makes it a message of no role instead,
 *   and the text and the tool calls are lost.
 * - Reasoning is sent back beside tool calls: DeepSeek and Kimi refuse the history without it, also beside the calls
 *   of another provider, which get an empty one.
 */
export function chatClient(
  fields: ClientFields,
  limits: IdleLimits,
  quirks: Quirks,
): ChatOpenAICompletions {
  return receiveStreams(new ChatClient(fields, quirks), { api: "chat", limits });
}

class ChatClient extends ChatOpenAICompletions {
  readonly #quirks: Quirks;

  constructor(fields: ClientFields, quirks: Quirks) {
    super(fields);
    this.#quirks = quirks;
  }

  override _streamResponseChunks(
    ...[messages, ...rest]: Parameters<ChatOpenAICompletions["_streamResponseChunks"]>
  ) {
    const passesBack =
      this.#quirks.passes_reasoning_back === true ||
      messages.some((message) => reasoningIn(message) !== null);
    const marked = messages.map((message) => withReasoningMark(message, passesBack ? "" : null));
    return super._streamResponseChunks(marked, ...rest);
  }

  override completionWithRetry(
    request: OpenAIClient.Chat.ChatCompletionCreateParamsStreaming,
    options?: OpenAIClient.RequestOptions,
  ): Promise<AsyncIterable<CompletionChunk>>;
  override completionWithRetry(
    request: OpenAIClient.Chat.ChatCompletionCreateParamsNonStreaming,
    options?: OpenAIClient.RequestOptions,
  ): Promise<Completions>;
  override completionWithRetry(
    request: OpenAIClient.Chat.ChatCompletionCreateParams,
    options?: OpenAIClient.RequestOptions,
  ): Promise<AsyncIterable<CompletionChunk> | Completions> {
    const messages = request.messages.map(withReasoning);
    return request.stream === true
      ? super.completionWithRetry({ ...request, messages }, options)
      : super.completionWithRetry({ ...request, messages, stream: false }, options);
  }

  protected override _convertCompletionsDeltaToBaseMessageChunk(
    delta: Record<string, unknown>,
    raw: CompletionChunk,
  ): BaseMessageChunk {
    const role = delta["role"] || "assistant";
    const chunk = super._convertCompletionsDeltaToBaseMessageChunk({ ...delta, role }, raw);
    for (const name of ["refusal", "reasoning"]) {
      const text = textIn(delta, name);
      if (text !== null) {
        chunk.additional_kwargs[name] = text;
      }
    }
    return chunk;
  }
}

/** Type of a block that LangChain's conversion does not change. */
const MARK = "reprise_reasoning";

function reasoningIn(message: BaseMessage): string | null {
  return textIn(message.additional_kwargs, "reasoning_content");
}

/**
 * Puts the reasoning of an answer that calls tools into a block that LangChain's conversion keeps; `missing` for one
 * without, such as that of another provider.
 */
function withReasoningMark(message: BaseMessage, missing: "" | null): BaseMessage {
  const reasoning_content = reasoningIn(message) ?? missing;
  if (
    !AIMessage.isInstance(message) ||
    reasoning_content === null ||
    typeof message.content !== "string" ||
    (message.tool_calls ?? []).length === 0
  ) {
    return message;
  }
  const { content, tool_calls = [] } = message;
  return new AIMessage({ content: [{ type: MARK, content, reasoning_content }], tool_calls });
}

function withReasoning(message: SentMessage): SentMessage {
  const { content } = message;
  const [block]: readonly unknown[] = Array.isArray(content) ? content : [];
  if (textIn(block, "type") !== MARK) {
    return message;
  }
  const restored = {
    ...message,
    content: textIn(block, "content") ?? "",
    reasoning_content: textIn(block, "reasoning_content") ?? "",
  };
  return restored;
}
