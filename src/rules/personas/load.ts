import { RepriseError } from "../../core/errors.ts";
import { surveyPersonas } from "./list.ts";
import { isBroken, type Persona, type PersonaEntry } from "./persona.ts";
import type { PersonaFolders } from "./folders.ts";

/**
 * The persona of this name: the first in the repository's `.reprise/personas`, `.claude/agents` and
 * `.agents/agents`, the user's folder, the built-in ones. The name is compared with the names of
 * those that are there and never becomes part of a path.
 *
 * The repository's are used only if it is trusted.
 *
 * Error codes: `persona_not_found`, naming those there are; `folder_not_trusted` if only a repository
 * that is not trusted has it; `persona_invalid`, naming the file, the line and what is wrong with it.
 * Another broken file does not matter.
 */
export async function loadPersona(
  input: PersonaFolders & { readonly name: string; readonly repoPath: string | null },
): Promise<Persona> {
  const { entries, withheld } = await surveyPersonas(input);
  const found = entries.find(({ name }) => name === input.name);
  if (found === undefined) {
    throw withheld.some(({ name }) => name === input.name) ? notTrusted() : notFound(entries);
  }
  if (!isBroken(found)) {
    return found;
  }
  throw new RepriseError(
    "persona_invalid",
    `The persona in ${found.path} cannot be used: ${found.fault}.`,
  );
}

function notTrusted(): RepriseError {
  return new RepriseError(
    "folder_not_trusted",
    "This persona comes with the folder, which is not trusted; use --trust for one run, or `reprise trust add`, in that folder.",
  );
}

function notFound(entries: readonly PersonaEntry[]): RepriseError {
  const names = entries.filter((entry) => !isBroken(entry)).map(({ name }) => name);
  const known = names.length === 0 ? "There are none here" : `There are ${names.join(", ")}`;
  return new RepriseError("persona_not_found", `No persona has this name. ${known}.`);
}
