import { AIMessage, type BaseMessage, type BaseMessageChunk } from "@langchain/core/messages";
import { ChatOpenAICompletions, type OpenAIClient } from "@langchain/openai";

import type { IdleLimits } from "../../rules/models/config.ts";
import type { Quirks } from "../../rules/models/providers.ts";
import { textIn } from "./answer-end.ts";
import { ChatExtras, type SentBack, sentBack, withExtra } from "./chat-extras.ts";
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
 * - So are OpenRouter's blocks of reasoning, and Gemini's signatures of calls: see `ChatExtras`.
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
  /** By the ids of the answers that are arriving. */
  readonly #extras = new Map<string, ChatExtras>();

  constructor(fields: ClientFields, quirks: Quirks) {
    super(fields);
    this.#quirks = quirks;
  }

  override async *_streamResponseChunks(
    ...[messages, ...rest]: Parameters<ChatOpenAICompletions["_streamResponseChunks"]>
  ) {
    const passesBack =
      this.#quirks.passes_reasoning_back === true ||
      messages.some((message) => reasoningIn(message) !== null);
    const marked = messages.map((message) =>
      withMark(message, {
        reasoning: passesBack ? (reasoningIn(message) ?? "") : null,
        back: sentBack(message, this.#quirks, this.model),
      }),
    );
    try {
      yield* super._streamResponseChunks(marked, ...rest);
    } finally {
      this.#extras.clear();
    }
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
    const messages = request.messages.map(withoutMark);
    return request.stream === true
      ? super.completionWithRetry({ ...request, messages }, options).then(countedAtEnd)
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
    Object.assign(chunk.additional_kwargs, this.#extrasWith(delta, raw));
    return chunk;
  }

  /** Returns the part that an answer keeps of all its pieces, with the last one that has a reason to end; else nothing. */
  #extrasWith(delta: Record<string, unknown>, { id, choices }: CompletionChunk): object {
    if (this.#quirks.keeps_reasoning_details !== true && this.#quirks.signs_calls !== true) {
      return {};
    }
    const extras = this.#extras.get(id) ?? new ChatExtras();
    this.#extras.set(id, extras);
    extras.add(delta);
    return (choices[0]?.finish_reason ?? null) === null ? {} : extras.kept();
  }
}

/**
 * Leaves out the counts of all pieces but the last. LangChain keeps those of any piece and adds them at the end, as if
 * a stream that breaks off had come to it.
 */
async function* countedAtEnd(chunks: AsyncIterable<CompletionChunk>) {
  for await (const chunk of chunks) {
    const [choice] = chunk.choices ?? [];
    const isLast = choice === undefined || (choice.finish_reason ?? null) !== null;
    yield isLast || !chunk.usage ? chunk : { ...chunk, usage: null };
  }
}

/** Type of a block that LangChain's conversion does not change. */
const MARK = "reprise_reasoning";

function reasoningIn(message: BaseMessage): string | null {
  return textIn(message.additional_kwargs, "reasoning_content");
}

interface Marked {
  /** The reasoning of an answer that calls tools, empty for one of another provider; null for none. */
  readonly reasoning: string | null;
  readonly back: SentBack | null;
}

/** Puts what an answer is sent back with into a block that LangChain's conversion keeps. */
function withMark(message: BaseMessage, { reasoning, back }: Marked): BaseMessage {
  if (!AIMessage.isInstance(message) || typeof message.content !== "string") {
    return message;
  }
  const { content, tool_calls = [] } = message;
  const reasoning_content = tool_calls.length === 0 ? null : reasoning;
  if (reasoning_content === null && back === null) {
    return message;
  }
  const fields = {
    ...(reasoning_content === null ? {} : { reasoning_content }),
    ...back?.fields,
  };
  const mark = { type: MARK, content, fields, calls: back?.calls ?? [] };
  return new AIMessage({ content: [mark], tool_calls });
}

function withoutMark(message: SentMessage): SentMessage {
  const { content } = message;
  const [block]: readonly unknown[] = Array.isArray(content) ? content : [];
  if (message.role !== "assistant" || !isMark(block)) {
    return message;
  }
  const { fields, calls } = block;
  const { tool_calls } = message;
  return {
    ...message,
    content: block.content,
    ...fields,
    ...(tool_calls === undefined
      ? {}
      : { tool_calls: tool_calls.map((call, at) => withExtra(call, calls[at])) }),
  };
}

interface Mark {
  readonly content: string;
  readonly fields: object;
  readonly calls: readonly unknown[];
}

function isMark(block: unknown): block is Mark {
  return textIn(block, "type") === MARK;
}
