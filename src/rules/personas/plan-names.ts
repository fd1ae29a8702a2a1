import type { PersonaFolders } from "./folders.ts";
import { listPersonas } from "./list.ts";

/**
 * The names of the personas that a plan can name in a folder. Names are only compared, so those of the folder count whether it
 * is trusted or not, as its schemas do. One whose file is broken counts: `doctor` says what is wrong with it.
 */
export async function planNames(
  folders: PersonaFolders,
  repoPath: string,
): Promise<{ readonly roles: ReadonlySet<string> }> {
  const trust = { ...folders.trust, forThisRun: "all" as const };
  const personas = await listPersonas({ ...folders, trust, repoPath });
  return { roles: new Set(personas.map(({ name }) => name)) };
}
