import { RepriseError } from "../../core/errors.ts";
import { hasKey, type ModelConfig, type OpenAiApi } from "./config.ts";
import { type ModelFacts, modelFacts } from "./facts.ts";
import { parseModelName, type Provider } from "./name.ts";

/** A provider that is asked without a key, at an address that the user set. */
export interface Keyless {
  /** The variable that would hold the key. */
  readonly variable: string;
  /** Host and port of the address: the rest of it may hold a secret. */
  readonly host: string;
}

/** What a provider's client is made with. */
export interface ModelSettings {
  readonly provider: Provider;
  readonly model: string;
  /** How it is asked, if it is OpenAI or compatible. */
  readonly api: OpenAiApi;
  readonly facts: ModelFacts;
  /** Tokens that it reads at most: `facts.context`. */
  readonly window: number;
  /** A placeholder if none is needed. */
  readonly apiKey: string;
  /** Empty for the demo model. */
  readonly baseUrl: string;
  /** Null if the provider has a key or needs none. */
  readonly keyless: Keyless | null;
}

/** Compatible servers often want no key, but the clients refuse to start without one. */
const PLACEHOLDER_KEY = "none";

const BASE_URLS: Readonly<Record<Exclude<Provider, "demo">, string>> = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com/v1",
  ollama: "http://127.0.0.1:11434",
};

/**
 * The settings of the model `provider:model`: all that can be refused before anything is sent. A
 * custom server (`baseUrl`) needs no key.
 *
 * Error codes: `model_unknown`, `model_key_missing`, `config_invalid` for an unusable variable.
 */
export function modelSettings(input: {
  readonly name: string;
  readonly config: ModelConfig;
}): ModelSettings {
  const { provider, model } = parseModelName(input.name);
  const api = openAiApi(input.config);
  const facts = modelFacts(input.name, input.config);
  const settings = { provider, model, api, facts, window: facts.context };
  if (provider === "demo") {
    return { ...settings, apiKey: PLACEHOLDER_KEY, baseUrl: "", keyless: null };
  }
  const { baseUrl } = input.config[provider];
  const isKeyed = provider === "ollama" || hasKey(input.config[provider]);
  const apiKey = provider === "ollama" ? null : input.config[provider].apiKey;
  const variable = provider.toUpperCase();
  if (!isKeyed && baseUrl === null) {
    throw new RepriseError(
      "model_key_missing",
      `This model needs a key. Set ${variable}_API_KEY or providers.${provider} of the config, or ${variable}_BASE_URL to the address of a compatible server, or use the offline model with --model demo.`,
    );
  }
  const url = checkUrl(baseUrl ?? BASE_URLS[provider], `${variable}_BASE_URL`);
  return {
    ...settings,
    apiKey: apiKey ?? PLACEHOLDER_KEY,
    baseUrl: url,
    keyless: !isKeyed ? { variable: `${variable}_API_KEY`, host: new URL(url).host } : null,
  };
}

/** Responses at OpenAI's own address, Chat Completions at any other one, unless the config names one. */
function openAiApi({ openai: { api, baseUrl } }: ModelConfig): OpenAiApi {
  const isOwn = baseUrl === null || URL.parse(baseUrl)?.host === new URL(BASE_URLS.openai).host;
  return api ?? (isOwn ? "responses" : "chat");
}

function checkUrl(text: string, variable: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) {
    return text;
  }
  throw new RepriseError(
    "config_invalid",
    `${variable} is not an address. Write it with its scheme, like http://127.0.0.1:8080/v1.`,
  );
}
