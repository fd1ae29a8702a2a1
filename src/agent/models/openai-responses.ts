import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import {
  ChatOpenAIResponses,
  convertMessagesToResponsesInput,
  convertResponsesDeltaToChatGenerationChunk,
  convertResponsesUsageToUsageMetadata,
  type OpenAIClient,
  wrapOpenAIClientError,
} from "@langchain/openai";

import type { Effort } from "../../core/model-settings.ts";
import type { IdleLimits } from "../../rules/models/config.ts";
import { REASONING, REASONING_BREAK } from "./arriving-reasoning.ts";
import { textIn } from "./answer-end.ts";
import { BrokenAnswerError, ENDED_EARLY } from "./follow-end.ts";
import type { ClientFields } from "./openai-client.ts";
import { replayed } from "./own-answers.ts";
import { receiveStreams } from "./receive-stream.ts";

type Event = OpenAIClient.Responses.ResponseStreamEvent;
type SentEffort = Exclude<Effort, "off"> | "none";
type Request = OpenAIClient.Responses.ResponseCreateParamsStreaming;
type Input = OpenAIClient.Responses.ResponseInputItem;

/**
 * LangChain's client of OpenAI's Responses API. OpenAI stores nothing of a session: reasoning comes encrypted, and goes
 * back unchanged with the items of its answer. An event that says that the response failed is thrown, which LangChain
 * leaves out.
 */
export function responsesClient(
  fields: ClientFields,
  { limits, effort = null }: { readonly limits: IdleLimits; readonly effort?: SentEffort | null },
): ChatOpenAIResponses {
  const client = new ResponsesClient({
    ...fields,
    // `store: false`
    zdrEnabled: true,
    // LangChain sends null without it, which OpenAI may read as true
    supportsStrictToolCalling: false,
    ...(isReasoner(fields.model ?? "")
      ? {
          modelKwargs: { include: ["reasoning.encrypted_content"] },
          reasoning: { summary: "auto" as const, ...(effort === null ? {} : { effort }) },
        }
      : {}),
  });
  return receiveStreams(client, { api: "responses", limits });
}

/** Older models refuse to be asked for encrypted reasoning: "Encrypted content is not supported with this model". */
function isReasoner(model: string): boolean {
  return !/^(?:ft:)?(?:gpt-3|gpt-4|chatgpt-|gpt-5(?:\.\d+)?-chat)/.test(model);
}

class ResponsesClient extends ChatOpenAIResponses {
  #showsReasoning = true;

  override async *_streamResponseChunks(
    ...[messages, options, runManager]: Parameters<ChatOpenAIResponses["_streamResponseChunks"]>
  ): AsyncGenerator<ChatGenerationChunk> {
    const input = messages.flatMap((message) => this.#itemsOf(message));
    const request = { ...this.invocationParams(options), input, stream: true } as const;
    const events = await this.#open(request, options);
    try {
      for await (const event of events) {
        const counted = failedCounts(event);
        if (counted !== null) {
          yield counted;
        }
        const chunk = chunkOf(event);
        if (chunk !== null) {
          yield chunk;
          const at = { prompt: options.promptIndex ?? 0, completion: 0 };
          const fields = { chunk };
          await runManager?.handleLLMNewToken(
            chunk.text,
            at,
            undefined,
            undefined,
            undefined,
            fields,
          );
        }
      }
    } catch (error) {
      throw wrapOpenAIClientError(error);
    }
  }

  /** OpenAI shows reasoning to verified organizations alone, and refuses the request of others. */
  async #open(request: Request, options: this["ParsedCallOptions"]): Promise<AsyncIterable<Event>> {
    if (!this.#showsReasoning) {
      return this.completionWithRetry(withoutSummary(request), options);
    }
    try {
      return await this.completionWithRetry(request, options);
    } catch (error) {
      if (textIn(error, "param") !== "reasoning.summary") {
        throw error;
      }
      this.#showsReasoning = false;
      return this.completionWithRetry(withoutSummary(request), options);
    }
  }

  #itemsOf(message: BaseMessage): Input[] {
    const items = AIMessage.isInstance(message) ? replayed(message) : null;
    if (items?.length === 0) {
      return [];
    }
    const answer =
      items === null
        ? message
        : new AIMessage({ content: "", response_metadata: { output: [...items] } });
    return convertMessagesToResponsesInput({
      messages: [answer],
      zdrEnabled: true,
      model: this.model,
    });
  }
}

function withoutSummary({ reasoning, ...request }: Request): Request {
  const { summary: _summary, ...rest } = reasoning ?? {};
  return Object.keys(rest).length === 0 ? request : { ...request, reasoning: rest };
}

/** Members of the response that an answer keeps: the others repeat the request's tools and instructions. */
const KEPT = [
  "id",
  "created_at",
  "model",
  "status",
  "incomplete_details",
  "output",
  "service_tier",
] as const;

/** Usage of a response that failed, if OpenAI reports it; null for every other event. */
function failedCounts(event: Event): ChatGenerationChunk | null {
  const usage = event.type === "response.failed" ? event.response.usage : undefined;
  if (usage === undefined || usage === null) {
    return null;
  }
  return new ChatGenerationChunk({
    text: "",
    message: new AIMessageChunk({ content: "", usage_metadata: countsOf(usage) }),
  });
}

/** Returns the counts of a response. LangChain reads a missing one as 0, which would cost nothing. */
function countsOf(usage: OpenAIClient.Responses.ResponseUsage | null | undefined): UsageMetadata {
  const given: Partial<OpenAIClient.Responses.ResponseUsage> = usage ?? {};
  const { input_tokens = Number.NaN, output_tokens = Number.NaN } = given;
  const converted = convertResponsesUsageToUsageMetadata(usage ?? undefined);
  return { ...converted, input_tokens, output_tokens };
}

/** Null for an event that holds nothing of the answer. Throws for one that says that it failed. */
function chunkOf(event: Event): ChatGenerationChunk | null {
  if (event.type === "error") {
    throw new BrokenAnswerError(event.code ?? ENDED_EARLY, event.message);
  }
  if (event.type === "response.failed") {
    const { error } = event.response;
    throw new BrokenAnswerError(error?.code ?? ENDED_EARLY, error?.message ?? "");
  }
  const converted = convertResponsesDeltaToChatGenerationChunk(event);
  if (converted === null || !AIMessageChunk.isInstance(converted.message)) {
    return null;
  }
  const { message, text } = converted;
  const { response } = "response" in event ? event : { response: null };
  const isEnd = event.type === "response.completed" || event.type === "response.incomplete";
  const refusal = textIn(message.additional_kwargs, "refusal");
  const isReasoning = "reasoning" in message.additional_kwargs;
  message.response_metadata = {
    model_provider: "openai",
    ...(isEnd && response !== null
      ? Object.fromEntries(KEPT.map((key) => [key, response[key] ?? null]))
      : {}),
  };
  message.additional_kwargs = refusal === null ? {} : { refusal };
  if (isEnd) {
    message.usage_metadata = countsOf(event.response.usage);
  }
  return new ChatGenerationChunk({
    text,
    message,
    ...(isReasoning ? { generationInfo: { [REASONING]: true, ...breakBefore(event) } } : {}),
  });
}

/** A summary of reasoning has several parts, each a paragraph. */
function breakBefore(event: Event): object {
  const isNext = event.type === "response.reasoning_summary_part.added" && event.summary_index > 0;
  return isNext ? { [REASONING_BREAK]: "\n\n" } : {};
}
