import type { ProviderEntry } from "../../src/rules/models/provider-config.ts";

/** Returns the config's entry of a provider `openai` that is asked in this way. */
export function openAiAs(api: "chat" | "responses"): Readonly<Record<string, ProviderEntry>> {
  return { openai: { api, baseUrl: null, key: null, headers: {} } };
}
