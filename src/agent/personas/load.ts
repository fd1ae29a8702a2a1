import { RepriseError } from "../../core/errors.ts";
import { listPersonas } from "./list.ts";
import { isBroken } from "./persona.ts";
import type { Persona, PersonaEntry } from "./persona.ts";
import type { PersonaPlaces } from "./places.ts";

/**
 * The persona of this name: the first in the repository's `.reprise/personas`, `.claude/agents` and
 * `.agents/agents`, the user's folder, the built-in ones. The name is compared with the names of
 * those that are there and never becomes part of a path.
 *
 * Throws `persona_not_found`, naming those there are, or `persona_invalid`, naming the file, the
 * line and what is wrong with it. Another broken file is in nobody's way.
 */
export async function loadPersona(
  input: PersonaPlaces & { readonly name: string; readonly repoPath: string | null },
): Promise<Persona> {
  const entries = await listPersonas(input);
  const found = entries.find(({ name }) => name === input.name);
  if (found === undefined) throw notFound(entries);
  if (!isBroken(found)) return found;
  throw new RepriseError("persona_invalid", `the persona in ${found.path}: ${found.fault}`);
}

function notFound(entries: readonly PersonaEntry[]): RepriseError {
  const names = entries.filter((entry) => !isBroken(entry)).map(({ name }) => name);
  const known = names.length === 0 ? "there are none here" : `there are ${names.join(", ")}`;
  return new RepriseError("persona_not_found", `no persona has this name; ${known}`);
}
