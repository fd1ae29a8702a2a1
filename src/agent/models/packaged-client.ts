import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  mergeUsageMetadata,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";

import { RepriseError } from "../../core/errors.ts";
import type { Effort } from "../../core/model-settings.ts";
import type { IdleLimits } from "../../rules/models/config.ts";
import { type LoadPackage, packagesBeside } from "../../rules/models/optional-package.ts";
import type { ModelSettings } from "../../rules/models/settings.ts";
import { textIn } from "./answer-end.ts";
import { CALL_EXTRAS } from "./chat-extras.ts";
import { receiveStreams } from "./receive-stream.ts";

type PackagedApi = "google" | "bedrock";

interface Opening extends Pick<
  ModelSettings,
  "provider" | "model" | "apiKey" | "baseUrl" | "headers"
> {
  readonly api: PackagedApi;
  readonly effort: Effort | null;
  readonly limits: IdleLimits;
}

/** Another host would get the key. */
const NO_REDIRECTS = { redirect: "error" } as const;

/**
 * A client of a package that the user installs. Its answers become text, calls and reasoning in the form of the other
 * clients, and what it is sent is made of that: so no form of a package is stored.
 *
 * Error codes: `package_missing`.
 */
export async function packagedClient(
  opening: Opening,
  load: LoadPackage = packagesBeside(import.meta.url),
): Promise<BaseChatModel> {
  const { api, limits } = opening;
  const client =
    api === "google" ? await openGoogle(opening, load) : await openBedrock(opening, load);
  const stream = client._streamResponseChunks.bind(client);
  client._streamResponseChunks = async function* (messages, options, runManager) {
    const sent = api === "google" ? forGoogle(messages) : messages;
    const extras: (object | null)[] = [];
    const counts = new Counts();
    // without the manager: it would get the package's own form, in which thoughts are text
    for await (const given of stream(sent, options)) {
      const calls = toolCallsOf(given, api);
      const usage = counts.after(given);
      const chunk = chunkOf(given, { calls, before: extras.length, usage });
      extras.push(...(api === "google" ? calls.map(extraOf) : []));
      if (chunk.generationInfo !== undefined && extras.some((extra) => extra !== null)) {
        chunk.message.additional_kwargs[CALL_EXTRAS] = extras;
      }
      yield chunk;
      const at = { prompt: 0, completion: 0 };
      const fields = { chunk };
      await runManager?.handleLLMNewToken(chunk.text, at, undefined, undefined, undefined, fields);
    }
  };
  return receiveStreams(client, { api, limits });
}

async function openGoogle(
  { provider, model, apiKey, baseUrl, headers, effort }: Opening,
  load: LoadPackage,
): Promise<BaseChatModel> {
  const module = await load("@langchain/google");
  const client = construct(module, "ChatGoogle", {
    model,
    maxRetries: 0,
    customHeaders: headers,
    // given, so that no variable of the package chooses another host
    ...(provider === "vertex"
      ? { platformType: "gcp", googleAuthOptions: {} }
      : { platformType: "gai", apiKey, endpoint: baseUrl }),
    ...(effort === null ? {} : effort === "off" ? { thinkingBudget: 0 } : levelOf(effort)),
  });
  const api: unknown = Reflect.get(client, "apiClient");
  if (isFetcher(api)) {
    const fetchOnce = api.fetch.bind(api);
    api.fetch = (request) => fetchOnce(new Request(request, NO_REDIRECTS));
  }
  return client;
}

/** Google's API has three levels. */
function levelOf(effort: Exclude<Effort, "off">): object {
  return { reasoningEffort: effort === "low" || effort === "medium" ? effort : "high" };
}

/** AWS' own chain finds the credentials, and its requests are signed, so that no key is sent. */
async function openBedrock({ model }: Opening, load: LoadPackage): Promise<BaseChatModel> {
  const module = await load("@langchain/aws");
  try {
    return construct(module, "ChatBedrockConverse", { model, maxRetries: 0 });
  } catch (cause) {
    const sentence =
      "Bedrock needs a region. Set AWS_DEFAULT_REGION, and what AWS finds its credentials by.";
    throw new RepriseError("config_invalid", sentence, { cause });
  }
}

function construct(module: object, name: string, fields: object): BaseChatModel {
  const constructor: unknown = Reflect.get(module, name);
  if (typeof constructor !== "function") {
    throw new TypeError(`the package has no ${name}`);
  }
  return Reflect.construct(constructor, [fields]) as BaseChatModel;
}

function isFetcher(value: unknown): value is { fetch(request: Request): Promise<Response> } {
  return (
    typeof value === "object" && value !== null && typeof Reflect.get(value, "fetch") === "function"
  );
}

interface Piece {
  readonly calls: readonly GivenCall[];
  /** Calls that came before. */
  readonly before: number;
  readonly usage: UsageMetadata | undefined;
}

/** Tokens of an answer: a package reports those of each piece, or all at the end. */
class Counts {
  #sum: UsageMetadata | undefined;
  #hasEnded = false;

  /** Returns the sum with the piece that ends the answer, or the first count after it; before, it is not that of a whole answer. */
  after(given: ChatGenerationChunk): UsageMetadata | undefined {
    const more: unknown = Reflect.get(given.message, "usage_metadata");
    if (isUsage(more)) {
      this.#sum = mergeUsageMetadata(this.#sum, more);
    }
    this.#hasEnded ||= reasonIn(given) !== null;
    if (!this.#hasEnded || this.#sum === undefined) {
      return undefined;
    }
    const { input_tokens, output_tokens, ...rest } = this.#sum;
    this.#sum = undefined;
    return {
      ...rest,
      input_tokens: unlessZero(input_tokens),
      output_tokens: unlessZero(output_tokens),
    };
  }
}

function isUsage(value: unknown): value is UsageMetadata {
  return typeof value === "object" && value !== null && "input_tokens" in value;
}

/** The packages report a count that the provider has not sent as 0, which no request and no answer has. */
function unlessZero(count: number): number {
  return count === 0 ? Number.NaN : count;
}

/** The provider's word for why the answer ended; null in every other piece. */
function reasonIn({ message, generationInfo }: ChatGenerationChunk): string | null {
  return (
    textIn(generationInfo, "finishReason") ??
    textIn(message.additional_kwargs, "finishReason") ??
    textIn(Reflect.get(message.response_metadata, "messageStop"), "stopReason")
  );
}

/** A piece in the form of the other clients. */
function chunkOf(given: ChatGenerationChunk, { calls, before, usage }: Piece): ChatGenerationChunk {
  const { message } = given;
  const { content } = message;
  const blocks: readonly object[] = typeof content === "string" ? [] : content;
  const thoughts = blocks.map(thoughtIn).join("");
  const text =
    typeof content === "string"
      ? content
      : blocks
          .flatMap((block) => (thoughtIn(block) === "" ? (textIn(block, "text") ?? "") : ""))
          .join("");
  const reason = reasonIn(given);
  return new ChatGenerationChunk({
    text,
    message: new AIMessageChunk({
      content: text,
      tool_call_chunks: calls.map(({ id, name, args, index }, at) => ({
        type: "tool_call_chunk",
        index: index ?? before + at,
        args: typeof args === "string" ? args : JSON.stringify(args ?? ""),
        ...(name === undefined ? {} : { name }),
        ...(id === undefined ? {} : { id }),
      })),
      additional_kwargs: thoughts === "" ? {} : { reasoning: thoughts },
      ...(usage === undefined ? {} : { usage_metadata: usage }),
    }),
    ...(reason === null ? {} : { generationInfo: { finish_reason: reason } }),
  });
}

/** Returns fields that have to be sent back beside a call; null for nothing. */
function extraOf(call: GivenCall): object | null {
  const thoughtSignature = textIn(call, "thoughtSignature");
  return thoughtSignature === null ? null : { thoughtSignature };
}

interface GivenCall {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args: unknown;
  readonly index?: number | undefined;
}

/** The calls of a piece: Google's come whole, and those of others in pieces. */
function toolCallsOf({ message }: ChatGenerationChunk, api: PackagedApi): readonly GivenCall[] {
  const name = api === "google" ? "tool_calls" : "tool_call_chunks";
  const found: unknown = Reflect.get(message, name);
  return Array.isArray(found) ? found : [];
}

/** Returns the model's thoughts in a block: Google marks a text, others have a type for it. */
function thoughtIn(block: object): string {
  const isThought = Reflect.get(block, "thought") === true;
  return (isThought ? textIn(block, "text") : textIn(block, "reasoning")) ?? "";
}

/** Ids in this form are not sent to Google: it has given others to its calls, or none. */
const UNSENT_ID = "lc-tool-call-";

/** Messages as the package takes them: each call with its signature. */
function forGoogle(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.map((message) => {
    if (ToolMessage.isInstance(message)) {
      const { content, name, status } = message;
      return new ToolMessage({
        content,
        ...(name === undefined ? {} : { name }),
        ...(status === undefined ? {} : { status }),
        tool_call_id: `${UNSENT_ID}${message.tool_call_id}`,
      });
    }
    return AIMessage.isInstance(message) ? answerForGoogle(message) : message;
  });
}

function answerForGoogle({ text, tool_calls = [], additional_kwargs }: AIMessage): AIMessage {
  const extras: unknown = additional_kwargs[CALL_EXTRAS];
  const signed: readonly unknown[] =
    Array.isArray(extras) && extras.length === tool_calls.length ? extras : [UNSIGNED];
  return new AIMessage({
    content: text === "" ? [] : [{ type: "text", text }],
    tool_calls: tool_calls.map(({ id = "", name, args }, at) => ({
      type: "tool_call",
      id: `${UNSENT_ID}${id}`,
      name,
      args,
      ...(signed[at] as object | null),
    })),
    response_metadata: { output_version: "v1" },
  });
}

/** As in `chat-extras.ts`, in the form of this API. */
const UNSIGNED = { thoughtSignature: "skip_thought_signature_validator" };
