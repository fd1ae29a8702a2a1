import { type Secret, secretsOfAddress } from "../../core/secrets.ts";
import type { ModelConfig } from "./config.ts";

/** The keys of the models, and the passwords in their addresses. */
export function secretsOfModels({ anthropic, openai, ollama }: ModelConfig): readonly Secret[] {
  return [
    { name: "ANTHROPIC_API_KEY", value: anthropic.apiKey ?? "" },
    { name: "OPENAI_API_KEY", value: openai.apiKey ?? "" },
    ...secretsOfAddress("ANTHROPIC_BASE_URL", anthropic.baseUrl),
    ...secretsOfAddress("OPENAI_BASE_URL", openai.baseUrl),
    ...secretsOfAddress("OLLAMA_BASE_URL", ollama.baseUrl),
  ];
}
