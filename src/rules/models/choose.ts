import type { Fallback } from "../../core/model-settings.ts";
import type { Persona } from "../personas/persona.ts";
import { defaultModel, type ModelConfig } from "./config.ts";

/**
 * The model that answers: the session's own, else the persona's, else the default one. A persona
 * that comes with a repository never chooses where messages are sent: its model is only shown.
 */
export function chosenModel(input: {
  readonly session: string | null;
  readonly persona: Persona;
  readonly config: ModelConfig;
}): string {
  const { session, persona, config } = input;
  return session ?? ownModel(persona) ?? defaultModel(config);
}

/** The model that a persona chooses by itself. */
export function ownModel({ source, model }: Persona): string | null {
  return source === "repository" ? null : model;
}

/** The models in its place that a persona chooses by itself. */
export function ownFallback({ source, fallback }: Persona): Fallback | null {
  return source === "repository" ? null : fallback;
}
