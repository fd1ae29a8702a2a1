import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { BUILT_IN_TOOLS } from "../tools/built-in.ts";
import { isTrusted } from "../trust/trust.ts";
import { isBroken, type PersonaEntry } from "./persona.ts";
import { type PersonaFolder, type PersonaFolders, personaFolders } from "./folders.ts";
import { PersonaError } from "./persona-error.ts";
import { readPersona } from "./read.ts";

/** Maximum of files in one folder; the rest is not read. */
const MAX_FILES = 200;

type SurveyInput = PersonaFolders & { readonly repoPath: string | null };

export interface PersonaSurvey {
  /** Personas that can be chosen, sorted by name, each name once: as `loadPersona` would find it. */
  readonly entries: readonly PersonaEntry[];
  /** Personas of a repository that is not trusted, each name once; none of them is used. */
  readonly withheld: readonly PersonaEntry[];
}

/**
 * All personas of the places, those of the repository only if it is trusted. A file that cannot be
 * used is listed with its error and hides no other one. Never throws.
 */
export async function surveyPersonas(input: SurveyInput): Promise<PersonaSurvey> {
  const used = new Map<string, PersonaEntry>();
  const withheld = new Map<string, PersonaEntry>();
  let trusted: boolean | null = null;
  for (const folder of personaFolders(input)) {
    const { within } = folder;
    for (const entry of await entriesOf(folder, input)) {
      const isUsed = within === null || (trusted ??= await isTrusted(input.trust, within));
      const byName = isUsed ? used : withheld;
      if (!byName.has(entry.name)) {
        byName.set(entry.name, entry);
      }
    }
  }
  return { entries: sorted(used), withheld: sorted(withheld) };
}

/** The personas that can be chosen; see `surveyPersonas`. */
export async function listPersonas(input: SurveyInput): Promise<readonly PersonaEntry[]> {
  return (await surveyPersonas(input)).entries;
}

function sorted(byName: ReadonlyMap<string, PersonaEntry>): PersonaEntry[] {
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Good ones first: a broken file whose name another file claims must not hide it. */
async function entriesOf(
  folder: PersonaFolder,
  read: Pick<PersonaFolders, "cache" | "tools">,
): Promise<PersonaEntry[]> {
  const files = await fileNames(folder);
  const entries = await Promise.all(files.map((file) => entryOf(folder, file, read)));
  return entries.sort((a, b) => Number(isBroken(a)) - Number(isBroken(b)));
}

async function fileNames({ path }: PersonaFolder): Promise<string[]> {
  const names = existsSync(path) ? await readdir(path).catch(() => []) : [];
  return names
    .filter((name) => name.endsWith(".md") && name.toLowerCase() !== "readme.md")
    .sort()
    .slice(0, MAX_FILES);
}

async function entryOf(
  folder: PersonaFolder,
  file: string,
  { cache, tools = BUILT_IN_TOOLS }: Pick<PersonaFolders, "cache" | "tools">,
): Promise<PersonaEntry> {
  const key = JSON.stringify([folder, file, tools.names]);
  const parse = () => readPersona(folder, file, tools);
  try {
    return await (cache?.read({ key, path: join(folder.path, file) }, parse) ?? parse());
  } catch (error) {
    if (!(error instanceof PersonaError)) {
      throw error;
    }
    const name = file.slice(0, -".md".length);
    return { name, source: folder.source, path: `${folder.shown}/${file}`, fault: error.message };
  }
}
