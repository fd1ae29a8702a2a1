import { fileURLToPath } from "node:url";
import { join } from "node:path";

import { RepriseError } from "../core/errors.ts";
import { packageFile } from "../core/package-file.ts";
import type { Compiled, CompiledSchema } from "./compile-schemas.ts";
import { invalidFile, readSchemaFiles } from "./schema-files.ts";
import type { BrokenSchema, SchemaFile } from "./schema-files.ts";

/** A schema known by its id. */
export interface SchemaEntry {
  readonly id: string;
  readonly title: string | null;
  /** False where only the id is known, because nobody published what the schema says. */
  readonly published: boolean;
  readonly source: "built-in" | "project";
}

export interface SchemaRegistry {
  /** Every known schema: those that come with Reprise first, then the project's by their files. */
  readonly entries: readonly SchemaEntry[];
  /** The ids of all of them. */
  readonly ids: ReadonlySet<string>;
  /**
   * The bytes of a schema's file.
   *
   * @throws RepriseError `schema_unknown` for an id that is not known, or known but unpublished.
   */
  read(id: string): Buffer;
  /**
   * Compiles all schemas, once, with references between them by id, and returns the one with this
   * id; null for one that is known but unpublished. Loads the validator at its first call.
   *
   * @throws RepriseError `schema_unknown`; `schema_invalid`, naming the file of a schema that is
   * none: of this one, and from `loadSchemas` of any.
   */
  compiled(id: string): Promise<CompiledSchema | null>;
  /** The files that hold no schema that can be used; none from `loadSchemas`, which throws. */
  broken(): Promise<readonly BrokenSchema[]>;
}

/** The id of the phase-plan artifact's schema, and of the specification's. */
export const PHASE_PLAN = "dev/phase-plan@1";
export const SPECIFICATION = "dev/spec@1";

/** Ids that exist although nobody published the fields. */
const UNPUBLISHED = [SPECIFICATION, "dev/review-finding-batch@1", "common/final-report@1"];

const BUILT_IN = fileURLToPath(packageFile("schemas"));

/**
 * Reads the schemas that come with Reprise and those in `.reprise/schemas/` of a project (null for
 * none). A project may publish an id that has no published schema yet.
 *
 * @throws RepriseError `schema_invalid`, naming the file of a schema that cannot be read or whose
 * id another one has; `file_unreadable`.
 */
export async function loadSchemas(project: string | null): Promise<SchemaRegistry> {
  const found = await find(project);
  const [first] = found.broken;
  if (first !== undefined) throw first.fault;
  return createRegistry(found, (files) => {
    const [fault] = files.faults.values();
    if (fault !== undefined) throw fault;
  });
}

/**
 * The same, where one broken file is no reason to refuse the others: `broken` names it, and only its
 * own id is refused with `schema_invalid`, and those that refer to it.
 *
 * @throws RepriseError `schema_invalid` for too many files, `file_unreadable` for the folder.
 */
export async function loadSoundSchemas(project: string | null): Promise<SchemaRegistry> {
  return createRegistry(await find(project), () => {});
}

interface Found {
  readonly files: ReadonlyMap<string, SchemaFile>;
  readonly entries: readonly SchemaEntry[];
  readonly broken: readonly BrokenSchema[];
}

async function find(project: string | null): Promise<Found> {
  const builtIn = await readSchemaFiles({ path: BUILT_IN, shown: "schemas" });
  const folder = ".reprise/schemas";
  const own =
    project === null ? [] : await readSchemaFiles({ path: join(project, folder), shown: folder });
  const { files, broken } = byId([...builtIn, ...own]);
  return { files, broken, entries: entriesOf(files, new Set(builtIn)) };
}

function byId(all: readonly (SchemaFile | BrokenSchema)[]): Omit<Found, "entries"> {
  const files = new Map<string, SchemaFile>();
  const broken: BrokenSchema[] = [];
  for (const file of all) {
    if ("fault" in file) {
      broken.push(file);
      continue;
    }
    const first = files.get(file.id);
    if (first === undefined) files.set(file.id, file);
    else {
      const fault = invalidFile(file.shown, `has the id that ${first.shown} has already`);
      broken.push({ id: file.id, owns: false, fault });
    }
  }
  return { files, broken };
}

function entriesOf(
  files: ReadonlyMap<string, SchemaFile>,
  builtIn: ReadonlySet<SchemaFile | BrokenSchema>,
): SchemaEntry[] {
  const published = Array.from(files.values(), (file): SchemaEntry => {
    const source = builtIn.has(file) ? "built-in" : "project";
    return { id: file.id, title: file.title, published: true, source };
  });
  const unpublished = UNPUBLISHED.filter((id) => !files.has(id)).map((id): SchemaEntry => ({
    id,
    title: null,
    published: false,
    source: "built-in",
  }));
  const own = published.filter(({ source }) => source === "project");
  return [...published.filter(({ source }) => source === "built-in"), ...unpublished, ...own];
}

function createRegistry(
  { files, entries, broken }: Found,
  judge: (compiled: Compiled) => void,
): SchemaRegistry {
  let compiling: Promise<Compiled> | undefined;
  const ids = new Set(entries.map(({ id }) => id));
  const compileOnce = (): Promise<Compiled> => (compiling ??= compile([...files.values()]));
  return {
    entries,
    ids,
    read: (id) => {
      const file = files.get(id);
      if (file === undefined) throw refusal(id, entries);
      return file.bytes;
    },
    async compiled(id) {
      const compiled = await compileOnce();
      judge(compiled);
      const fault = compiled.faults.get(id);
      if (fault !== undefined) throw fault;
      if (!ids.has(id)) throw refusal(id, entries);
      return compiled.schemas.get(id) ?? null;
    },
    async broken() {
      const compiled = await compileOnce();
      judge(compiled);
      return [
        ...broken,
        ...Array.from(compiled.faults, ([id, fault]) => ({ id, owns: true, fault })),
      ];
    },
  };
}

async function compile(files: readonly SchemaFile[]): Promise<Compiled> {
  const { compileSound } = await import("./compile-schemas.ts");
  return compileSound(files);
}

function refusal(id: string, entries: readonly SchemaEntry[]): RepriseError {
  if (entries.some((entry) => entry.id === id)) {
    const message =
      "This id is known, but its fields were never published, so there is no schema of it.";
    return new RepriseError("schema_unknown", message);
  }
  const ids = (published: boolean): string =>
    entries
      .filter((entry) => entry.published === published)
      .map((entry) => entry.id)
      .join(", ");
  const known = `${ids(true)} (published) and ${ids(false)} (by their ids only)`;
  return new RepriseError("schema_unknown", `No schema has this id. Known are ${known}.`);
}
