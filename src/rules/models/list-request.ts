import { hasKey, type ModelConfig } from "./config.ts";
import { parseModelName } from "./name.ts";
import type { ProviderConfig } from "./provider-config.ts";
import { builtInProvider } from "./providers.ts";

/** What asks a provider for the list of its models. */
export interface ListRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Names of the providers with a key or an address that somebody set, and of the default model's. */
export function configuredProviders(config: ModelConfig, model: string): string[] {
  const used = parseModelName(model).provider;
  return Object.entries(config.providers)
    .filter(([name, { api }]) => api !== "demo" && name !== "demo")
    .filter(([name, provider]) => isConfigured(provider) || name === used)
    .map(([name]) => name);
}

function isConfigured(provider: ProviderConfig): boolean {
  return hasKey(provider) || provider.baseUrl !== null;
}

/** Makes the request, with the key as far as it is known. Null for a provider without an address. */
export function listRequest(name: string, config: ProviderConfig): ListRequest | null {
  const address = config.baseUrl ?? builtInProvider(name)?.address ?? null;
  if (address === null || !/^https?:/.test(address)) {
    return null;
  }
  const { headers, apiKey } = config;
  const key = apiKey ?? "none";
  switch (config.api) {
    case "anthropic":
      return {
        url: under(address, "v1/models?limit=1000"),
        headers: { ...headers, "x-api-key": key, "anthropic-version": "2023-06-01" },
      };
    case "ollama":
      return { url: under(address, "api/tags"), headers };
    case "chat":
    case "responses":
      return {
        url: under(address, "models"),
        headers: { ...headers, authorization: `Bearer ${key}` },
      };
    case "google":
    case "bedrock":
    case "demo":
      return null;
  }
}

function under(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}/${path}`;
}
