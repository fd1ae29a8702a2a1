import { chosenModel } from "../models/choose.ts";
import type { ModelConfig } from "../models/config.ts";
import { modelSettings } from "../models/settings.ts";
import type { PersonaFolders } from "./folders.ts";
import type { Persona } from "./persona.ts";

/** The persona that an exchange would load. Error codes: as `loadPersona`. */
export async function checkPersona(
  personas: PersonaFolders,
  { name, repo_path }: { readonly name: string; readonly repo_path: string | null },
): Promise<Persona> {
  const { loadPersona } = await import("./load.ts");
  return loadPersona({ name, repoPath: repo_path, ...personas });
}

/**
 * Refuses a session that could not answer its first message, before anything is stored for its
 * sake. Nothing is sent. Error codes: as `loadPersona` and `modelSettings`.
 */
export async function checkNewSession(
  { models, personas }: { readonly models: ModelConfig; readonly personas: PersonaFolders },
  session: {
    readonly persona_name: string;
    readonly model: string | null;
    readonly repo_path: string | null;
  },
): Promise<void> {
  const { persona_name: name, model, repo_path } = session;
  const persona = await checkPersona(personas, { name, repo_path });
  modelSettings({ name: chosenModel({ session: model, persona, config: models }), config: models });
}
