import { onTestFinished } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import type { ProviderEntry } from "../../../src/rules/models/provider-config.ts";
import type { Body } from "../../helpers/providers/rules.ts";
import { CHAT_SERVERS } from "../../helpers/providers/openai/chat-quirks.ts";
import type { Received, Script } from "../../helpers/providers/server.ts";
import { type Provider, startProvider } from "../../helpers/providers/start.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { canonical, contentOf } from "../../helpers/providers/claude/request.ts";

export const PROVIDERS = [
  "anthropic",
  "openai",
  "azure",
  "deepseek",
  "moonshot",
  "groq",
  "ollama",
] as const;
export type Name = (typeof PROVIDERS)[number];

/** A request with the provider that got it. */
export interface Sent extends Received {
  readonly to: Name;
}

/** Opens an agent whose session can have models of all these providers. */
export async function openProviders(scriptOf: (name: Name) => Script) {
  const { env, entries, ...started } = await startProviders(scriptOf);
  const models = { ...modelConfig(env, entries), retries: 0 };
  return { ...(await openBench({ env: () => env }, {}, { models })), ...started };
}

/** Starts two providers of Responses, three of chat, Anthropic and Ollama. */
export async function startProviders(scriptOf: (name: Name) => Script) {
  const order: Sent[] = [];
  const start = async (name: Name): Promise<readonly [Name, Provider]> => {
    const script = scriptOf(name);
    const provider = await startProvider(
      name === "anthropic" || name === "ollama" ? name : "openai",
      (index, body, received) => {
        order.push({ ...received, to: name });
        return script(index, body, received);
      },
      name === "deepseek"
        ? { quirks: CHAT_SERVERS.deepseek }
        : name === "moonshot"
          ? { quirks: CHAT_SERVERS.kimi }
          : {},
    );
    onTestFinished(() => provider[Symbol.asyncDispose]());
    return [name, provider];
  };
  const providers = Object.fromEntries(await Promise.all(PROVIDERS.map(start))) as Readonly<
    Record<Name, Provider>
  >;
  const entry = (name: Name, api: ProviderEntry["api"]): ProviderEntry => ({
    api,
    baseUrl: `${providers[name].url}/v1`,
    key: { variable: "SOME_KEY" },
    headers: {},
  });
  const env = {
    ...providers.anthropic.env,
    ...providers.ollama.env,
    SOME_KEY: "test-key",
    REPRISE_CONTEXT_TOKENS: "1000000",
  };
  const entries = {
    openai: entry("openai", "responses"),
    azure: entry("azure", "responses"),
    deepseek: entry("deepseek", null),
    moonshot: entry("moonshot", null),
    groq: entry("groq", null),
  };
  return { env, entries, providers, order };
}

/** A request as a list of texts, of which the next request to the same provider has to begin with all. */
export function partsOfAny(body: Body): string[] {
  const {
    tools = [],
    system,
    instructions,
    messages,
    input,
  } = body as unknown as {
    readonly tools?: readonly object[];
    readonly system?: Parameters<typeof contentOf>[0];
    readonly instructions?: string;
    readonly messages?: readonly { readonly role?: string; readonly content: unknown }[];
    readonly input?: readonly object[];
  };
  const isClaude = system !== undefined;
  return [
    ...tools.map((tool) => JSON.stringify(tool)),
    ...contentOf(system ?? []).map((block) => canonical(block)),
    ...(instructions === undefined ? [] : [instructions]),
    ...(input ?? []).map((item) => JSON.stringify(item)),
    ...(messages ?? []).flatMap(({ role, content, ...rest }) =>
      isClaude
        ? contentOf(content as Parameters<typeof contentOf>[0]).map(
            (block) => `${role} ${canonical(block)}`,
          )
        : [JSON.stringify({ role, content, ...rest })],
    ),
  ];
}

/** Models of each provider, between which lives switch. */
export const MODELS: Readonly<Record<Name, readonly string[]>> = {
  anthropic: ["claude-opus-5-5", "claude-fable-5-2", "claude-sonnet-5"],
  openai: ["gpt-5.6", "gpt-6.1"],
  azure: ["gpt-6.1"],
  deepseek: ["deepseek-reasoner"],
  moonshot: ["kimi-k3"],
  groq: ["llama"],
  ollama: ["qwen3"],
};
