import { isRepriseError } from "../../core/errors.ts";
import type { ModelInfo } from "../../core/schemas/service-schemas.ts";
import { isBroken, type PersonaEntry } from "../personas/persona.ts";
import { ownModel } from "./choose.ts";
import { configuredModels, defaultModel, type ModelConfig } from "./config.ts";
import { DEMO_MODEL, parseModelName } from "./name.ts";
import { modelSettings } from "./settings.ts";

/**
 * The models that this configuration names: the default one, one of each provider that has a key, those of
 * personas, and the demo. No provider is asked, and no key or address is in the list.
 */
export function listModels(config: ModelConfig, personas: readonly PersonaEntry[]): ModelInfo[] {
  const standard = defaultModel(config);
  const named = personas.flatMap((entry) => (isBroken(entry) ? [] : (ownModel(entry) ?? [])));
  const names = new Set([standard, ...configuredModels(config), ...named, DEMO_MODEL]);
  return [...names].map((name) => ({ ...modelOf(name, config), is_default: name === standard }));
}

function modelOf(name: string, config: ModelConfig): Omit<ModelInfo, "is_default"> {
  try {
    const { provider, window } = modelSettings({ name, config });
    return { name, provider, is_usable: true, context_tokens: window };
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    return { name, provider: providerOf(name), is_usable: false, context_tokens: null };
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
