import type { Secret } from "../../core/secrets.ts";
import type { ModelConfig } from "./config.ts";

/** The keys of all providers, secret headers, and the passwords in their addresses. */
export function secretsOfModels({ providers }: ModelConfig): readonly Secret[] {
  return Object.values(providers).flatMap(({ apiKey, keyFrom, secrets }) => [
    { name: keyFrom, value: apiKey ?? "" },
    ...secrets,
  ]);
}
