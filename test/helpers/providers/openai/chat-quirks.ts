/** Ways in which a server of chat completions differs from OpenAI's. */
export interface ChatQuirks {
  /** Pieces of calls have no index. */
  readonly noIndex?: true;
  /** Sent in place of the assistant's role; `undefined` if no delta has one. */
  readonly role?: "" | null | undefined;
  /** Usage is not reported, even if the request asks for it. */
  readonly noUsage?: true;
  /** Each piece has the usage so far, as with `continuous_usage_stats` of vLLM. */
  readonly countsAlways?: true;
  /** Reasoning beside calls has to be sent back. */
  readonly passesReasoningBack?: true;
  /** Reasoning comes as `reasoning_details` too, and has to be sent back beside calls. */
  readonly reasoningDetails?: true;
  /** The first call of an answer is signed, and refused in the latest exchange without its signature. */
  readonly signsCalls?: true;
  /** A system message may only be the first one. */
  readonly systemFirst?: true;
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Unknown fields are ignored. */
  readonly ignoresFields?: true;
}

/** Servers with their quirks. */
export const CHAT_SERVERS = {
  deepseek: { passesReasoningBack: true, maxTokensField: "max_tokens", ignoresFields: true },
  kimi: { passesReasoningBack: true, ignoresFields: true },
  gemini: { noIndex: true, role: undefined, signsCalls: true, ignoresFields: true },
  qwen: { systemFirst: true, noUsage: true, ignoresFields: true },
  openrouter: { reasoningDetails: true, ignoresFields: true },
} as const satisfies Readonly<Record<string, ChatQuirks>>;
