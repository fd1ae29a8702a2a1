import type { PhasePlan } from "../artifacts/plans/phase-plan.ts";
import { isRepriseError, RepriseError } from "../core/errors.ts";
import { isHarmless, type ToolSet } from "../core/tools.ts";
import { checkPrice } from "../rules/models/check-model.ts";
import { ownModel } from "../rules/models/choose.ts";
import { type ModelConfig, withKey } from "../rules/models/config.ts";
import { modelSettings } from "../rules/models/settings.ts";
import type { PersonaFolders } from "../rules/personas/folders.ts";
import { loadPersona } from "../rules/personas/load.ts";
import type { Persona } from "../rules/personas/persona.ts";

/** Sources of the personas and models of a run. */
export interface RoleSource {
  readonly personas: PersonaFolders;
  readonly models: ModelConfig;
  readonly repo_path: string;
  /** Model of the run, for roles that choose none. */
  readonly model: string;
  readonly isPriceLimited: boolean;
}

/**
 * Returns the model of each role of a plan. Error codes: `role_unknown`, `persona_invalid`, `folder_not_trusted`, `model_*`,
 * `price_unknown`.
 */
export async function checkRoles(
  { phases }: PhasePlan,
  source: RoleSource,
): Promise<ReadonlyMap<string, string>> {
  const models = new Map<string, string>();
  for (const { key, role } of phases) {
    if (!models.has(role)) {
      const persona = await personaOf(source, { key, role });
      const name = ownModel(persona) ?? source.model;
      const settings = modelSettings({ name, config: source.models });
      checkPrice(source.isPriceLimited, name, settings.facts);
      modelSettings({ name, config: await withKey(source.models, settings.provider) });
      models.set(role, name);
    }
  }
  return models;
}

async function personaOf(
  { personas, repo_path }: RoleSource,
  { key, role }: { readonly key: string; readonly role: string },
): Promise<Persona> {
  try {
    return await loadPersona({ name: role, repoPath: repo_path, ...personas });
  } catch (error) {
    throw isRepriseError(error, "persona_not_found")
      ? new RepriseError(
          "role_unknown",
          `The role of phase ${key} is not a persona. ${error.message}`,
        )
      : error;
  }
}

/** Returns true for a persona that is offered a tool that changes files, or runs commands. */
export function mayWrite({ tools: names }: Pick<Persona, "tools">, tools: ToolSet): boolean {
  return [...tools].some(
    (tool) =>
      tool.about !== undefined &&
      !isHarmless(tool) &&
      (names === null || names.includes(tool.name)),
  );
}
