import type { ModelConfig } from "./config.ts";
import { parseModelName } from "./name.ts";

/** A provider that is asked without a key, at an address that the user set. */
export interface Keyless {
  /** The variable that would hold the key. */
  readonly variable: string;
  /** Host and port of the address: the rest of it may hold a secret. */
  readonly host: string;
}

/** Null for a model whose provider has a key or needs none. */
export function keylessOf(name: string, config: ModelConfig): Keyless | null {
  const { provider } = parseModelName(name);
  if (provider !== "openai" && provider !== "anthropic") {
    return null;
  }
  const { apiKey, baseUrl } = config[provider];
  return apiKey === null && baseUrl !== null
    ? { variable: `${provider.toUpperCase()}_API_KEY`, host: URL.parse(baseUrl)?.host ?? "" }
    : null;
}
