import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";

import { REPOSITORY_CONFIG } from "../config/repository.ts";
import { INSTRUCTIONS_FILE } from "../personas/repo-instructions.ts";
import { isBroken, type PersonaEntry } from "../personas/persona.ts";
import type { PersonaFolders } from "../personas/folders.ts";
import { surveySkills } from "../skills/survey.ts";
import { surveyPersonas } from "../personas/list.ts";
import { MCP_FILE } from "../servers/server.ts";
import { firstShown, type Startable, startablesOf } from "./startables.ts";

const SCHEMA_FOLDER = ".reprise/schemas";

/** Lists the schema files in a folder that must lie within another one. */
type FindSchemas = (
  path: string,
  within: string,
) => Promise<readonly string[] | "outside" | "too_large">;

/** Content of a folder for the agent and for plans. Trust is needed for its personas, its config, its servers and AGENTS.md. */
export interface Holdings {
  /** Descriptions for a person to read, like `AGENTS.md (2 KB)`; empty if there is nothing. */
  readonly items: readonly string[];
  /** Items that are not used without trust: all but the schemas. `plan validate` uses schemas anyway. */
  readonly withheld: readonly string[];
  /** Programs that it would run. Each line of those that are shown first is among the items. */
  readonly startables: readonly Startable[];
  /** Changes whenever a name, a path or a size of the list changes. */
  readonly fingerprint: string;
}

/** Lists the instructions, personas, skills, commands and schemas of a folder, trusted or not. Nothing of them acts. */
export async function holdingsOf(
  personaFolders: PersonaFolders,
  folder: string,
  findSchemas: FindSchemas,
): Promise<Holdings> {
  const [instructions, config, servers, skills, personas, schemas] = await Promise.all([
    sizeOf(join(folder, INSTRUCTIONS_FILE)),
    sizeOf(join(folder, REPOSITORY_CONFIG)),
    sizeOf(join(folder, MCP_FILE)),
    skillsOf(personaFolders, folder),
    personasOf(personaFolders, folder),
    findSchemas(join(folder, SCHEMA_FOLDER), folder).then(schemaItem, () => null),
  ]);
  const startables = await startablesOf(
    folder,
    personas.map(({ entry }) => entry),
  );
  const withheld = [
    ...(instructions === null ? [] : [`${INSTRUCTIONS_FILE} (${shownSize(instructions)})`]),
    ...(config === null ? [] : [`${REPOSITORY_CONFIG} (${shownSize(config)})`]),
    ...(servers === null ? [] : [`${MCP_FILE} (${shownSize(servers)})`]),
    // a command is shown whole, whatever is not shown of a long list
    ...firstShown(startables).shown.flatMap(({ kind, lines }) =>
      lines.map((line) => `${kind} ${line}`),
    ),
    ...personas.map(({ item }) => item),
    ...skills.map(({ item }) => item),
  ];
  const items = schemas === null ? withheld : [...withheld, schemas];
  const bytes = [...personas, ...skills].map((each) => each.bytes);
  const exact = [
    folder,
    items,
    instructions,
    bytes,
    ...(config === null ? [] : [config]),
    ...(servers === null ? [] : [servers]),
    ...startables.map(({ digest }) => digest),
  ];
  const fingerprint = createHash("sha256").update(JSON.stringify(exact)).digest("hex");
  return { items, withheld, startables, fingerprint };
}

async function personasOf(
  personaFolders: PersonaFolders,
  folder: string,
): Promise<{ item: string; bytes: number | null; entry: PersonaEntry }[]> {
  const untrusted = {
    ...personaFolders,
    trust: { ...personaFolders.trust, file: null, forThisRun: "none" as const },
  };
  const { entries, withheld } = await surveyPersonas({ ...untrusted, repoPath: folder });
  const replacedBy = (entry: PersonaEntry): PersonaEntry | undefined =>
    isBroken(entry) ? undefined : entries.find(({ name }) => name === entry.name);
  // first, because only the first ones of a long list are shown
  const isFirst = (entry: PersonaEntry): number => (replacedBy(entry) === undefined ? 1 : 0);
  return Promise.all(
    withheld
      .toSorted((a, b) => isFirst(a) - isFirst(b))
      .map(async (entry) => {
        const replaced = replacedBy(entry);
        const bytes = await sizeOf(join(folder, entry.path));
        return { item: itemOf(entry, replaced), bytes, entry };
      }),
  );
}

/** Lists the skills and commands as they would be used once the folder is trusted. */
async function skillsOf(
  { userDir, trust }: PersonaFolders,
  folder: string,
): Promise<{ item: string; bytes: number | null }[]> {
  const trusted = { ...trust, forThisRun: "all" as const };
  const { skills, commands } = await surveySkills({ userDir, repoPath: folder, trust: trusted });
  const found = [
    ...skills
      .filter(({ source }) => source === "repository")
      .map(({ name, path }) => ({ item: `skill ${name}`, path })),
    ...commands.map(({ name, path }) => ({ item: `command /${name}`, path })),
  ];
  return Promise.all(
    found.map(async ({ item, path }) => ({ item, bytes: await sizeOf(join(folder, path)) })),
  );
}

function itemOf(entry: PersonaEntry, replaced: PersonaEntry | undefined): string {
  if (isBroken(entry)) {
    return `${entry.path} (cannot be used)`;
  }
  if (replaced === undefined) {
    return `persona ${entry.name}`;
  }
  return `persona ${entry.name} (replaces ${replaced.source === "user" ? "yours" : "the built-in one"})`;
}

function schemaItem(found: Awaited<ReturnType<FindSchemas>>): string | null {
  if (typeof found === "string") {
    return `${SCHEMA_FOLDER} (${found === "outside" ? "leads out of the folder" : "too large"}; not used)`;
  }
  if (found.length === 0) {
    return null;
  }
  return found.length === 1 ? "1 schema" : `${found.length} schemas`;
}

async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}

function shownSize(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}
