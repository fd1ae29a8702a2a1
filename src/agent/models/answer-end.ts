import { AIMessage, type BaseMessage } from "@langchain/core/messages";

/** The ways in which models are asked over the network. */
export type ModelApi = "anthropic" | "responses" | "chat" | "ollama" | "google" | "bedrock";

/**
 * How an answer ended.
 *
 * - `whole`: it is all there.
 * - `cut`: it reached the limit of the model's output.
 * - `paused`: the model asks to be called again with what it has written.
 * - `full`: it reached the limit of the model's context.
 * - `refused`: the model, or a filter of its provider, does not answer.
 * - `broken`: the provider failed; another attempt may be whole.
 * - `unknown`: for a reason that is not in the table.
 */
export type AnswerEnd = "whole" | "cut" | "paused" | "full" | "refused" | "broken" | "unknown";

/** Every reason that the APIs document, and those of compatible servers. Read in November 2026. */
const ENDS: Readonly<Record<ModelApi, Readonly<Record<string, AnswerEnd>>>> = {
  // `stop_reason`: platform.claude.com, "Handling stop reasons"
  anthropic: {
    end_turn: "whole",
    tool_use: "whole",
    stop_sequence: "whole",
    max_tokens: "cut",
    pause_turn: "paused",
    model_context_window_exceeded: "full",
    refusal: "refused",
  },
  // `status`, and `incomplete_details.reason`: types of openai 7.57
  responses: {
    completed: "whole",
    "incomplete max_output_tokens": "cut",
    "incomplete max_messages": "cut",
    "incomplete steered": "cut",
    "incomplete content_filter": "refused",
    incomplete: "cut",
    failed: "broken",
    cancelled: "broken",
  },
  // `finish_reason`: OpenAI's, then those of OpenRouter, DeepSeek, Mistral, vLLM and Gemini's endpoint
  chat: {
    stop: "whole",
    tool_calls: "whole",
    function_call: "whole",
    length: "cut",
    content_filter: "refused",
    error: "broken",
    insufficient_system_resource: "broken",
    model_length: "cut",
    abort: "broken",
    eos: "whole",
    max_tokens: "cut",
    safety: "refused",
  },
  // `finishReason`: ai.google.dev/api/generate-content
  google: {
    stop: "whole",
    max_tokens: "cut",
    safety: "refused",
    recitation: "refused",
    language: "refused",
    blocklist: "refused",
    prohibited_content: "refused",
    spii: "refused",
    malformed_function_call: "broken",
  },
  // `stopReason` of ConverseStream
  bedrock: {
    end_turn: "whole",
    tool_use: "whole",
    stop_sequence: "whole",
    max_tokens: "cut",
    guardrail_intervened: "refused",
    content_filtered: "refused",
    model_context_window_exceeded: "full",
  },
  // `done_reason`: a model that was only loaded has answered nothing
  ollama: {
    stop: "whole",
    length: "cut",
    load: "broken",
    unload: "broken",
  },
};

/** Facts that a provider reports about the end of an answer. */
export interface ReportedEnd {
  /** Its word for the reason; null if it gave none. */
  readonly reason: string | null;
  /** Subject of a refusal, such as `cyber`. */
  readonly category: string | null;
  /** True if the answer has a refusal in the place of text. */
  readonly isRefusal: boolean;
  /** True if the answer's tokens are counted, which servers do last. */
  readonly isCounted: boolean;
}

/** How an answer ended, with what may be shown of the provider's words. */
export interface KnownEnd {
  readonly end: AnswerEnd;
  readonly reason: string | null;
  readonly category: string | null;
}

/** Looks the end of an answer up. */
export function endFor(api: ModelApi, reported: ReportedEnd): KnownEnd {
  const { reason, category, isRefusal, isCounted } = reported;
  const shown = { reason: shortWord(reason), category: shortWord(category) };
  if (isRefusal) {
    return { ...shown, end: "refused" };
  }
  if (reason === null) {
    // some compatible servers give no reason
    return { ...shown, end: api === "chat" && isCounted ? "whole" : "broken" };
  }
  const known = ENDS[api];
  const end = Object.hasOwn(known, reason) ? known[reason] : undefined;
  return { ...shown, end: end ?? "unknown" };
}

/** Words of another form are not shown. */
const SHORT_WORD = /^(?=.{1,41}$)[a-z]{1,24}\d{0,3}(?:[_ ](?:[a-z]{1,24}\d{0,3}|\d{1,3}))*$/;

function shortWord(word: string | null): string | null {
  return word !== null && SHORT_WORD.test(word) ? word : null;
}

/** In an answer's `response_metadata`: how it ended, unless it is whole. */
const ENDED = "reprise_end";

/** Metadata that an answer keeps of its end. */
export function endMetadata({ end, reason, category }: KnownEnd): Record<string, unknown> {
  return { [ENDED]: { end, reason, category } };
}

/** How an answer ended; whole, if it keeps nothing else. */
export function endOf(message: BaseMessage | undefined): KnownEnd {
  const kept: unknown = AIMessage.isInstance(message) ? message.response_metadata[ENDED] : null;
  if (kept === null || kept === undefined) {
    return WHOLE;
  }
  const end = STORED.find((one) => one === textIn(kept, "end")) ?? "whole";
  return { end, reason: textIn(kept, "reason"), category: textIn(kept, "category") };
}

const WHOLE: KnownEnd = { end: "whole", reason: null, category: null };

const STORED: readonly AnswerEnd[] = ["cut", "paused", "full", "refused", "unknown"];

/** A text of an object that may be anything; null for another value, and for an empty text. */
export function textIn(from: unknown, name: string): string | null {
  const value: unknown = typeof from === "object" && from !== null ? Reflect.get(from, name) : null;
  return typeof value === "string" && value !== "" ? value : null;
}
