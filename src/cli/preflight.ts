import type { Persona } from "../exchange/personas/persona.ts";
import { personaFolderPaths } from "./config.ts";
import type { CliContext } from "./context.ts";

/** Who answers in sessions that name nobody. */
export const DEFAULT_PERSONA = "assistant";

/** The persona that an exchange would load. Error codes: `persona_not_found`, `persona_invalid`. */
export async function checkPersona(
  cli: CliContext,
  input: { readonly name: string; readonly repo_path: string | null },
): Promise<Persona> {
  const { loadPersona } = await import("../exchange/personas/load.ts");
  return loadPersona({ name: input.name, repoPath: input.repo_path, ...personaFolderPaths(cli) });
}

/**
 * Refuses a model that no exchange could open, before anything is stored for its sake. Nothing is
 * sent. Error codes: `model_unknown`, `model_key_missing`, `config_invalid`.
 */
export async function checkModel(cli: CliContext, name: string): Promise<void> {
  const [{ openModel }, { modelConfig }] = await Promise.all([
    import("../agent/models/open.ts"),
    import("../exchange/models/config.ts"),
  ]);
  await openModel({ name, config: modelConfig(cli.env) });
}

/** Refuses a session that could not answer its first message; error codes as above. */
export async function checkNewSession(
  cli: CliContext,
  input: {
    readonly persona_name: string;
    readonly model: string | null;
    readonly repo_path: string | null;
  },
): Promise<void> {
  const [{ chosenModel }, { modelConfig }] = await Promise.all([
    import("../exchange/models/choose.ts"),
    import("../exchange/models/config.ts"),
  ]);
  const persona = await checkPersona(cli, { name: input.persona_name, repo_path: input.repo_path });
  const config = modelConfig(cli.env);
  await checkModel(cli, chosenModel({ session: input.model, persona, config }));
}
