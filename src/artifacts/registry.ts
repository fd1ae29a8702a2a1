import { fileURLToPath } from "node:url";
import { join } from "node:path";

import { RepriseError } from "../core/errors.ts";
import { packageFile } from "../core/package-file.ts";
import type { CompiledSchema } from "./compile-schemas.ts";
import { invalidFile, readSchemaFiles } from "./schema-files.ts";
import type { SchemaFile } from "./schema-files.ts";

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
   * @throws RepriseError `schema_unknown`; `schema_invalid`, naming the file of any schema that is
   * none.
   */
  compiled(id: string): Promise<CompiledSchema | null>;
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
  const builtIn = await readSchemaFiles({ path: BUILT_IN, shown: "schemas" });
  const folder = ".reprise/schemas";
  const own =
    project === null ? [] : await readSchemaFiles({ path: join(project, folder), shown: folder });
  const files = byId([...builtIn, ...own]);
  return createRegistry(files, entriesOf(files, new Set(builtIn)));
}

function byId(files: readonly SchemaFile[]): Map<string, SchemaFile> {
  const found = new Map<string, SchemaFile>();
  for (const file of files) {
    const first = found.get(file.id);
    if (first !== undefined) {
      throw invalidFile(file.shown, `has the id that ${first.shown} has already`);
    }
    found.set(file.id, file);
  }
  return found;
}

function entriesOf(
  files: ReadonlyMap<string, SchemaFile>,
  builtIn: ReadonlySet<SchemaFile>,
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
  files: ReadonlyMap<string, SchemaFile>,
  entries: readonly SchemaEntry[],
): SchemaRegistry {
  let compiling: Promise<ReadonlyMap<string, CompiledSchema>> | undefined;
  const ids = new Set(entries.map(({ id }) => id));
  return {
    entries,
    ids,
    read: (id) => {
      const file = files.get(id);
      if (file === undefined) throw refusal(id, entries);
      return file.bytes;
    },
    async compiled(id) {
      compiling ??= compile([...files.values()]);
      const schemas = await compiling;
      if (!ids.has(id)) throw refusal(id, entries);
      return schemas.get(id) ?? null;
    },
  };
}

async function compile(files: readonly SchemaFile[]): Promise<ReadonlyMap<string, CompiledSchema>> {
  const { compileSchemas } = await import("./compile-schemas.ts");
  return compileSchemas(files);
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
