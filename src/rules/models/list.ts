import { isRepriseError } from "../../core/errors.ts";
import type { ModelInfo } from "../../core/schemas/service-schemas.ts";
import { isBroken, type PersonaEntry } from "../personas/persona.ts";
import { ownModel } from "./choose.ts";
import { configuredModels, defaultModel, hasKey, type ModelConfig } from "./config.ts";
import { modelFacts } from "./facts.ts";
import { DEMO_MODEL, parseModelName } from "./name.ts";
import { modelSettings } from "./settings.ts";
import { modelTable } from "./table.ts";

/**
 * The models that this configuration names: the default one, one of each provider that has a key, those of
 * personas, those that the table has of providers with a key, and the demo. No provider is asked, and no key or
 * address is in the list.
 */
export function listModels(config: ModelConfig, personas: readonly PersonaEntry[]): ModelInfo[] {
  const named = personas.flatMap((entry) => (isBroken(entry) ? [] : (ownModel(entry) ?? [])));
  const keyed = Object.entries(config.providers).flatMap(([name, provider]) =>
    hasKey(provider) ? tableNames(name) : [],
  );
  const names = new Set([
    defaultModel(config),
    ...configuredModels(config),
    ...named,
    DEMO_MODEL,
    ...keyed,
  ]);
  return [...names].map((name) => modelInfo(name, config));
}

/** Names of the models that the table has of a provider. */
export function tableNames(provider: string): string[] {
  const { models } = modelTable();
  const rows = Object.hasOwn(models, provider) ? (models[provider] ?? {}) : {};
  return Object.keys(rows).map((model) => `${provider}:${model}`);
}

/** One model with what is known of it. */
export function modelInfo(name: string, config: ModelConfig): ModelInfo {
  const isDefault = name === defaultModel(config);
  const usable = isUsable(name, config);
  const facts = usable === "unknown" ? null : modelFacts(name, config);
  const [price = null] = facts?.price ?? [];
  return {
    name,
    provider: providerOf(name),
    is_default: isDefault,
    is_usable: usable === true,
    context_tokens: facts?.context ?? null,
    output_tokens: facts?.output ?? null,
    is_assumed: facts?.assumed ?? true,
    images: facts?.images ?? null,
    reasoning: facts?.reasoning ?? null,
    input_price: price?.input ?? null,
    output_price: price?.output ?? null,
    ends: facts?.ends ?? null,
  };
}

/** `unknown` for what names no model, and for a setting that spoils the facts. */
function isUsable(name: string, config: ModelConfig): boolean | "unknown" {
  try {
    modelSettings({ name, config });
    return true;
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    return error.code === "model_key_missing" ? false : "unknown";
  }
}

/** A name that no provider is known for says itself what comes before the colon. */
function providerOf(name: string): string {
  try {
    return parseModelName(name).provider;
  } catch {
    return name.split(":", 1)[0] ?? "";
  }
}
