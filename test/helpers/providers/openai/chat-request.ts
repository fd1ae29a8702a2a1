import type { Body } from "../rules.ts";
import type { ChatQuirks } from "./chat-quirks.ts";
import { PrefixCache } from "./prefix-cache.ts";

export interface ChatCall {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: unknown;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly unknown[];
  readonly tool_calls?: readonly ChatCall[];
  readonly tool_call_id?: string;
}

/** The part of a request that the mock reads. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly reasoning_effort?: string;
  readonly stream_options?: { readonly include_usage?: boolean };
}

export function chatBody(body: Body): ChatBody {
  return body as unknown as ChatBody;
}

/** What the mock of chat completions remembers of its answers, and how its server differs. */
export interface ChatMemory {
  readonly cache: PrefixCache;
  readonly quirks: ChatQuirks;
  /** The reasoning of answers, by the ids of their calls. */
  readonly reasoning: Map<string, string>;
  /** Blocks of reasoning and signatures as JSON, by the ids of the calls that need them. */
  readonly details: Map<string, string>;
  readonly signatures: Map<string, string>;
}

export function chatMemory(quirks: ChatQuirks, now: () => number): ChatMemory {
  return {
    cache: new PrefixCache(now),
    quirks,
    reasoning: new Map(),
    details: new Map(),
    signatures: new Map(),
  };
}
