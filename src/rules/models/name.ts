import { RepriseError } from "../../core/errors.ts";

export const PROVIDERS = ["anthropic", "openai", "ollama", "demo"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** A model as its provider knows it: `ollama:llama3.2:3b` is `llama3.2:3b` at `ollama`. */
export interface ModelName {
  readonly provider: Provider;
  readonly model: string;
}

/** How each provider is called in a sentence for a person. */
export const PROVIDER_LABELS: Readonly<Record<Provider, string>> = {
  anthropic: "Anthropic",
  openai: "the OpenAI service",
  ollama: "Ollama",
  demo: "the demo model",
};

/** The model that works without a key and without a network. */
export const DEMO_MODEL = "demo:echo";

/**
 * Reads `provider:model`; `demo` alone is the demo model too. Anything else is refused with
 * `model_unknown`, which lists the known providers.
 */
export function parseModelName(name: string): ModelName {
  const colon = name.indexOf(":");
  const written = colon === -1 ? name : name.slice(0, colon);
  const model = colon === -1 ? "" : name.slice(colon + 1).trim();
  const provider = PROVIDERS.find((known) => known === written);
  if (provider === "demo") {
    return { provider, model: model === "" ? "echo" : model };
  }
  if (provider === undefined || model === "") {
    throw unknownName();
  }
  return { provider, model };
}

/** True for `demo` and `demo:…`, the offline model. */
export function isDemo(name: string): boolean {
  return name === "demo" || name.startsWith("demo:");
}

function unknownName(): RepriseError {
  return new RepriseError(
    "model_unknown",
    `Write a model as provider:model, for example ${DEMO_MODEL}. ` +
      `The providers are ${PROVIDERS.join(", ")}.`,
  );
}
