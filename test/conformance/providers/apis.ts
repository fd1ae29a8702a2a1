import { CLAUDE_RULES } from "../../helpers/providers/claude/rules.ts";
import { OLLAMA_RULES } from "../../helpers/providers/ollama.ts";
import { CHAT_RULES } from "../../helpers/providers/openai/chat-rules.ts";
import { RESPONSES_RULES } from "../../helpers/providers/openai/responses-rules.ts";
import type { ProviderName } from "../../helpers/providers/start.ts";
import type { RuleCase } from "./cases.ts";
import { CHAT_CASES } from "./chat-cases.ts";
import { CLAUDE_CASES } from "./claude-cases.ts";
import { OLLAMA_CASES } from "./ollama-cases.ts";
import { RESPONSES_CASES } from "./responses-cases.ts";

/** An API with its rules, the cases that show them, and how to call it. */
export interface RuledApi {
  readonly provider: ProviderName;
  readonly path: string;
  /** The model of cases that name none. */
  readonly model: string;
  readonly rules: readonly { readonly id: string; readonly source: string }[];
  readonly cases: readonly RuleCase[];
  readonly headers: (key: string) => Record<string, string>;
  /** The real API without its path. */
  readonly address: string;
  /** The variable with a key of the real API. */
  readonly variable: string;
}

export const RULED_APIS: Readonly<Record<string, RuledApi>> = {
  anthropic: {
    provider: "anthropic",
    path: "/v1/messages",
    model: "claude-opus-5-5",
    rules: CLAUDE_RULES,
    cases: CLAUDE_CASES,
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    address: "https://api.anthropic.com",
    variable: "ANTHROPIC_API_KEY",
  },
  responses: {
    provider: "openai",
    path: "/v1/responses",
    model: "gpt-6.1-sol",
    rules: RESPONSES_RULES,
    cases: RESPONSES_CASES,
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    address: "https://api.openai.com",
    variable: "OPENAI_API_KEY",
  },
  chat: {
    provider: "openai",
    path: "/v1/chat/completions",
    model: "gpt-4.1",
    rules: CHAT_RULES,
    cases: CHAT_CASES,
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    address: "https://api.openai.com",
    variable: "OPENAI_API_KEY",
  },
  ollama: {
    provider: "ollama",
    path: "/api/chat",
    model: "llama3.2:3b",
    rules: OLLAMA_RULES,
    cases: OLLAMA_CASES,
    headers: () => ({}),
    address: "http://127.0.0.1:11434",
    variable: "OLLAMA_API_KEY",
  },
};
