import { RepriseError } from "../../core/errors.ts";

/** A model as its provider knows it: `ollama:llama3.2:3b` is `llama3.2:3b` at `ollama`. */
export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

/** The model that works without a key and without a network. */
export const DEMO_MODEL = "demo:echo";

/** Names of providers; a config may add some. */
export const PROVIDER_NAME = "^[a-z][a-z0-9_-]{0,31}$";
export const MODEL_NAME = "^[a-z][a-z0-9_-]{0,31}:.";

/**
 * Reads `provider:model`; `demo` alone is the demo model too. Whether there is such a provider is found out when the
 * model is opened: see `modelSettings`.
 *
 * Error codes: `model_unknown`.
 */
export function parseModelName(name: string): ModelName {
  const colon = name.indexOf(":");
  const provider = colon === -1 ? name : name.slice(0, colon);
  const model = colon === -1 ? "" : name.slice(colon + 1).trim();
  if (provider === "demo") {
    return { provider, model: model === "" ? "echo" : model };
  }
  if (!new RegExp(PROVIDER_NAME).test(provider) || model === "") {
    throw new RepriseError(
      "model_unknown",
      `Write a model as provider:model, for example ${DEMO_MODEL}. \`reprise models\` lists some.`,
    );
  }
  return { provider, model };
}

/** True for `demo` and `demo:…`, the offline model. */
export function isDemo(name: string): boolean {
  return name === "demo" || name.startsWith("demo:");
}
