import { RepriseError } from "../../core/errors.ts";
import {
  type CacheLife,
  DEFAULT_CACHE_LIFE,
  type Effort,
  EFFORTS,
  type Fallback,
  type ModelChoice,
} from "../../core/model-settings.ts";
import type { Persona } from "../personas/persona.ts";
import type { ModelFacts } from "./facts.ts";
import { ownFallback } from "./choose.ts";
import { parseModelName } from "./name.ts";

/**
 * The effort, the cache and the fallback that count: the session's, else those of the user's persona, else the
 * config's. A persona that comes with a repository sets none. A null effort is the model's default.
 */
export function chosenSettings({
  session,
  persona,
  config,
}: {
  readonly session: ModelChoice;
  readonly persona: Persona;
  readonly config: ModelChoice;
}): {
  readonly effort: Effort | null;
  readonly cache: CacheLife;
  readonly fallback: Fallback;
} {
  const own = persona.source === "repository" ? null : persona.effort;
  return {
    effort: session.effort ?? own ?? config.effort,
    cache: session.cache ?? config.cache ?? DEFAULT_CACHE_LIFE,
    fallback: session.fallback ?? ownFallback(persona) ?? config.fallback ?? [],
  };
}

/** Efforts of Ollama's models; only one family takes more than on and off. */
const OLLAMA_LEVELS: readonly Effort[] = ["low", "medium", "high"];

/**
 * Refuses an effort that the model is known not to take. Error codes: `effort_unknown`, `model_unknown` for an invalid
 * name.
 */
export function checkEffort(effort: Effort | null, name: string, facts: ModelFacts): void {
  if (takesEffort(effort, name, facts)) {
    return;
  }
  const taken = effortsOf(name, facts) ?? [];
  throw new RepriseError(
    "effort_unknown",
    taken.length === 0
      ? "This model takes no effort. Set it to default (/effort default, or null over HTTP), or choose another model."
      : `This model does not take the effort ${effort}. It takes ${taken.join(", ")}, and default (/effort default, or null over HTTP).`,
  );
}

/** False if the model is known not to take it. */
export function takesEffort(effort: Effort | null, name: string, facts: ModelFacts): boolean {
  const taken = effortsOf(name, facts);
  return effort === null || taken === null || taken.includes(effort);
}

/** True for a model of Ollama that takes `low`, `medium` or `high`; others think or do not. */
export function isLevelled(model: string): boolean {
  return model.startsWith("gpt-oss");
}

/** The efforts that a model takes; null if nobody knows. */
function effortsOf(name: string, facts: ModelFacts): readonly Effort[] | null {
  const { provider, model } = parseModelName(name);
  if (provider === "ollama") {
    return isLevelled(model) ? OLLAMA_LEVELS : EFFORTS;
  }
  return facts.efforts.length === 0 && facts.reasoning === null ? null : facts.efforts;
}
