import { isRepriseError } from "../../core/errors.ts";
import type { Session } from "../../core/sessions.ts";
import type { ToolSet } from "../../core/tools.ts";
import { readPermissions } from "../../store/records/sessions/permissions.ts";
import type { Store } from "../../store/store.ts";
import type { PersonaFolders } from "../personas/folders.ts";
import { loadPersona } from "../personas/load.ts";
import { DEFAULT_PERSONA, type Persona } from "../personas/persona.ts";
import { type Layer, parentLayer } from "./layers.ts";

/**
 * Reads what the sessions above deny a sub-agent: it never does what they may not do themselves. `tools` are those of
 * the session.
 */
export async function parentLayers(
  { store, personas }: { readonly store: Pick<Store, "read">; readonly personas: PersonaFolders },
  { id, repo_path: repoPath }: Pick<Session, "id" | "repo_path">,
  tools: ToolSet,
): Promise<readonly Layer[]> {
  const { parents } = await store.read(readPermissions, { id });
  return Promise.all(
    parents.map(async ({ persona_name, plan_mode }) => {
      const name = persona_name ?? DEFAULT_PERSONA;
      const persona = await loadPersona({ ...personas, name, repoPath }).catch(nullIfUnusable);
      return parentLayer({ persona, plan_mode }, tools);
    }),
  );
}

function nullIfUnusable(error: unknown): Persona | null {
  if (isRepriseError(error)) {
    return null;
  }
  throw error;
}
