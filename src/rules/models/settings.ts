import { RepriseError } from "../../core/errors.ts";
import { hasKey, type ModelConfig } from "./config.ts";
import { type ModelFacts, modelFacts } from "./facts.ts";
import { parseModelName } from "./name.ts";
import type { ProviderConfig } from "./provider-config.ts";
import { type Api, builtInProvider, type ProviderData, type Quirks } from "./providers.ts";

/** A provider that is asked without a key, at an address that the user set. */
export interface Keyless {
  /** The variable, or the part of the config, that would hold the key. */
  readonly variable: string;
  /** Host and port of the address: the rest of it may hold a secret. */
  readonly host: string;
}

/** What a provider's client is made with. */
export interface ModelSettings {
  readonly provider: string;
  readonly model: string;
  readonly api: Api;
  readonly quirks: Quirks;
  readonly facts: ModelFacts;
  /** Tokens that it reads at most: `facts.context`. */
  readonly window: number;
  /** A placeholder if none is needed. */
  readonly apiKey: string;
  /** Empty for the demo model. */
  readonly baseUrl: string;
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the provider has a key or needs none. */
  readonly keyless: Keyless | null;
}

/** Compatible servers often want no key, but the clients refuse to start without one. */
const PLACEHOLDER_KEY = "none";

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
  const config = requireProvider(input.config, provider);
  const data = builtInProvider(provider);
  const facts = modelFacts(input.name, input.config);
  const baseUrl =
    provider === "demo" || isFoundByPackage(config, data)
      ? ""
      : checkUrl(addressOf(provider, config, data), config.addressFrom);
  const isKeyed = data?.isKeyless === true || hasKey(config);
  if (!isKeyed && config.baseUrl === null) {
    throw keyMissing(provider, config, data);
  }
  return {
    provider,
    model,
    api: config.api,
    quirks: data?.quirks ?? {},
    facts,
    window: facts.context,
    apiKey: config.apiKey ?? PLACEHOLDER_KEY,
    baseUrl,
    headers: config.headers,
    keyless: isKeyed ? null : { variable: config.keyFrom, host: new URL(baseUrl).host },
  };
}

/** Error codes: `model_unknown`. */
function requireProvider(config: ModelConfig, provider: string): ProviderConfig {
  const found = Object.hasOwn(config.providers, provider) ? config.providers[provider] : undefined;
  if (found === undefined) {
    const names = Object.keys(config.providers).join(", ");
    throw new RepriseError(
      "model_unknown",
      `There is no provider of this name. The providers are ${names}; \`providers\` of the config adds others.`,
    );
  }
  return found;
}

/** True for an address that follows from what a package finds of the account. */
function isFoundByPackage(
  { api, baseUrl }: ProviderConfig,
  data: ProviderData | undefined,
): boolean {
  const isOfPackage = data?.package !== undefined && api === data.api;
  return isOfPackage && baseUrl === null && data.address === null;
}

/** Error codes: `config_invalid`. */
function addressOf(
  provider: string,
  { baseUrl, addressFrom }: ProviderConfig,
  data: ProviderData | undefined,
): string {
  const address = baseUrl ?? data?.address ?? null;
  if (address === null) {
    throw new RepriseError(
      "config_invalid",
      `This provider has another address for each account. Set ${addressFrom} or providers.${provider}.base_url of the config.`,
    );
  }
  return address;
}

function keyMissing(
  provider: string,
  { keyFrom }: ProviderConfig,
  data: ProviderData | undefined,
): RepriseError {
  const [variable] = data?.addressVariables ?? [];
  const address =
    variable === undefined ? "" : `, or ${variable} to the address of a compatible server`;
  return new RepriseError(
    "model_key_missing",
    `This model needs a key. Set ${keyFrom} or providers.${provider} of the config${address}, or use the offline model with --model demo.`,
  );
}

function checkUrl(text: string, place: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) {
    return text;
  }
  throw new RepriseError(
    "config_invalid",
    `${place} is not an address. Write it with its scheme, like http://127.0.0.1:8080/v1.`,
  );
}
