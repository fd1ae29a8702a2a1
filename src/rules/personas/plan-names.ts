import type { ToolSet } from "../../core/tools.ts";
import { editingTools } from "../permissions/layers.ts";
import { BUILT_IN_TOOLS } from "../tools/built-in.ts";
import type { PersonaFolders } from "./folders.ts";
import { listPersonas } from "./list.ts";

/**
 * The names of the personas that a plan can name in a folder, and of those that change no files. Names are only
 * compared, so those of the folder count whether it is trusted or not, as its schemas do. One whose file is broken
 * counts: `doctor` says what is wrong with it.
 */
export async function planNames(
  folders: PersonaFolders,
  repoPath: string,
): Promise<{ readonly roles: ReadonlySet<string>; readonly readers: ReadonlySet<string> }> {
  const trust = { ...folders.trust, forThisRun: "all" as const };
  const personas = await listPersonas({ ...folders, trust, repoPath });
  const readers = personas.filter(
    (entry) => "tools" in entry && isReader(entry.tools, folders.tools ?? BUILT_IN_TOOLS),
  );
  const namesOf = (entries: readonly { readonly name: string }[]) =>
    new Set(entries.map(({ name }) => name));
  return { roles: namesOf(personas), readers: namesOf(readers) };
}

function isReader(names: readonly string[] | null, tools: ToolSet): boolean {
  return names !== null && !editingTools(tools).some(({ name }) => names.includes(name));
}
