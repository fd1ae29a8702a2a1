import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

import { RepriseError } from "../../core/errors.ts";
import type { ModelConfig, ProviderConfig } from "../../exchange/models/config.ts";
import { windowOf } from "../../exchange/models/context-window.ts";
import { parseModelName } from "../../exchange/models/name.ts";

/** Compatible servers often want no key, but the clients refuse to start without one. */
const PLACEHOLDER_KEY = "none";

interface Opening {
  readonly model: string;
  readonly config: ModelConfig;
  /** Tokens that it reads at most. */
  readonly window: number;
}

/**
 * The chat model behind `provider:model`, loading only that provider's client. Nothing is sent yet.
 * It streams when it is streamed. The clients' own `streaming` option stays off: with it, openai's
 * client downloads a tokenizer from the network after every answer.
 *
 * Keys, addresses and accounts come from `config` alone: what the clients would read from the
 * environment is set explicitly. A server of one's own (`baseUrl`) needs no key. Refuses with
 * `model_unknown`, `model_key_missing` or, for a variable that says nothing sensible, `config_invalid`.
 */
export async function openModel(input: {
  readonly name: string;
  readonly config: ModelConfig;
}): Promise<BaseChatModel> {
  const { provider, model } = parseModelName(input.name);
  const opening = { model, config: input.config, window: windowOf(input) };
  switch (provider) {
    case "anthropic":
      return openAnthropic(opening);
    case "openai":
      return openOpenAi(opening);
    case "ollama":
      return openOllama(opening);
    case "demo": {
      const { DemoModel } = await import("./demo.ts");
      return new DemoModel({});
    }
  }
}

async function openAnthropic({ model, config }: Opening): Promise<BaseChatModel> {
  const apiKey = keyOf(config.anthropic, "ANTHROPIC_API_KEY");
  const baseUrl = config.anthropic.baseUrl ?? "https://api.anthropic.com";
  const { AnthropicClient } = await import("./anthropic-client.ts");
  const fields = {
    model,
    apiKey,
    anthropicApiUrl: checkUrl(baseUrl, "ANTHROPIC_BASE_URL"),
    streamUsage: true,
    maxRetries: config.retries,
    clientOptions: { authToken: null, logLevel: "off", timeout: config.timeoutMs } as const,
  };
  return new AnthropicClient(fields, config.idle);
}

async function openOpenAi({ model, config }: Opening): Promise<BaseChatModel> {
  const apiKey = keyOf(config.openai, "OPENAI_API_KEY");
  const baseUrl = config.openai.baseUrl ?? "https://api.openai.com/v1";
  const { openAiClient } = await import("./openai-client.ts");
  const fields = {
    model,
    apiKey,
    streamUsage: true,
    maxRetries: config.retries,
    timeout: config.timeoutMs,
    configuration: {
      baseURL: checkUrl(baseUrl, "OPENAI_BASE_URL"),
      organization: null,
      project: null,
      adminAPIKey: null,
      logLevel: "off",
    },
  } as const;
  return openAiClient(fields, config.idle);
}

async function openOllama({ model, config, window }: Opening): Promise<BaseChatModel> {
  const baseUrl = config.ollama.baseUrl ?? "http://127.0.0.1:11434";
  const { OllamaClient } = await import("./ollama-client.ts");
  const fields = {
    model,
    baseUrl: checkUrl(baseUrl, "OLLAMA_BASE_URL"),
    numCtx: window,
    maxRetries: config.retries,
  };
  return new OllamaClient(fields, config.idle);
}

function keyOf({ apiKey, baseUrl }: ProviderConfig, variable: string): string {
  if (apiKey !== null) {
    return apiKey;
  }
  if (baseUrl !== null) {
    return PLACEHOLDER_KEY;
  }
  throw new RepriseError(
    "model_key_missing",
    `this model needs a key: set ${variable}, or take the offline model with --model demo`,
  );
}

function checkUrl(text: string, variable: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) {
    return text;
  }
  throw new RepriseError(
    "config_invalid",
    `${variable} is no address; write it with its scheme, like http://127.0.0.1:8080/v1`,
  );
}
