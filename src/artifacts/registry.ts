import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

import { RepriseError } from "../core/errors.ts";
import { packageFile } from "../core/package-file.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import type { ArtifactSchema, ProjectSchemas } from "./project/project-schema.ts";
import type { SchemaSet, WorkerPool } from "./project/worker-pool.ts";
import {
  invalidFile,
  readSchemaFiles,
  type BrokenSchema,
  type SchemaFile,
} from "./schema-files.ts";

/** A schema known by its id. */
export interface SchemaEntry {
  readonly id: string;
  readonly title: string | null;
  /** False if only the id is known, because the schema was never published. */
  readonly published: boolean;
  readonly source: SchemaFile["source"];
}

export interface SchemaRegistry {
  /** Every known schema: those that come with Reprise first, then the project's by their files. */
  readonly entries: readonly SchemaEntry[];
  /** The ids of all of them. */
  readonly ids: ReadonlySet<string>;
  /**
   * The bytes of a schema's file.
   *
   * Error codes: `schema_unknown` for an id that is not known, or known but unpublished;
   * `schema_invalid` for that of a broken file.
   */
  read(id: string): Buffer;
  /** The schema of phase plans, compiled once. Loads its validator at the first call. */
  phasePlan(): Promise<CompiledSchema>;
  /**
   * The schema with this id; null for one that is known but unpublished. Nothing is compiled before
   * its first check, which starts a thread if the schema is the project's.
   *
   * Error codes: `schema_unknown`; `schema_invalid` for the id of a broken file.
   */
  schema(id: string): Promise<ArtifactSchema | null>;
  /**
   * The files that hold no schema that can be used. Starts a thread if the project has schemas.
   *
   * Error codes: `schema_checks_busy`.
   */
  broken(): Promise<readonly BrokenSchema[]>;
  /** False as soon as a broken file was found: by reading it, or by using its schema. */
  isSound(): boolean;
}

/** The id of the phase-plan artifact's schema, and of the specification's. */
export const PHASE_PLAN = "dev/phase-plan@1";
export const SPECIFICATION = "dev/spec@1";

/** The id of the schema of a plan's checks. */
export const PLAN_CHECKS = "reprise/plan-checks@1";

/** Ids whose schema was never published. */
const UNPUBLISHED = [SPECIFICATION, "dev/review-finding-batch@1", "common/final-report@1"];

const BUILT_IN = {
  path: fileURLToPath(packageFile("schemas")),
  shown: "schemas",
  within: null,
  source: "built-in",
} as const;

const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/**
 * Reads the schemas that come with Reprise and those in `.reprise/schemas/` of a project (null for
 * none), which are checked by the threads of `pool`. A project may publish an id that has no
 * published schema yet. A broken file does not affect the others: `broken` names it, and
 * only its own id is refused with `schema_invalid`, and those that refer to it.
 *
 * Error codes: `schema_invalid` for too many files, `file_unreadable` for the folder.
 */
export async function loadSchemas(
  project: string | null,
  pool: WorkerPool,
): Promise<SchemaRegistry> {
  const builtIn = await readSchemaFiles(BUILT_IN);
  const shown = ".reprise/schemas";
  const own =
    project === null
      ? []
      : await readSchemaFiles({
          path: join(project, shown),
          shown,
          within: project,
          source: "project",
        });
  return createRegistry(sortOut([...builtIn, ...own]), pool);
}

interface Found {
  readonly files: ReadonlyMap<string, SchemaFile>;
  readonly broken: readonly BrokenSchema[];
}

function sortOut(all: readonly (SchemaFile | BrokenSchema)[]): Found {
  const files = new Map<string, SchemaFile>();
  const broken: BrokenSchema[] = [];
  for (const file of all) {
    const first = "error" in file ? undefined : files.get(file.id);
    if ("error" in file) {
      broken.push(file);
    } else if (first === undefined) {
      files.set(file.id, file);
    } else {
      const error = invalidFile(file.shown, `has the id that ${first.shown} has already`);
      broken.push({ id: file.id, owns: false, error });
    }
  }
  for (const file of files.values()) {
    if (hasKnownDialect(file, files)) {
      continue;
    }
    files.delete(file.id);
    const error = invalidFile(
      file.shown,
      "is written in another dialect than JSON Schema 2020-12, or one that the folder does not have",
    );
    broken.push({ id: file.id, owns: false, error });
  }
  return { files, broken };
}

/** JSON Schema 2020-12, or a dialect of the project: a schema that names its vocabularies. */
function hasKnownDialect(
  { schema: { $schema: dialect } }: SchemaFile,
  files: ReadonlyMap<string, SchemaFile>,
): boolean {
  if (dialect === undefined || dialect === "") {
    return true;
  }
  if (typeof dialect !== "string") {
    return false;
  }
  return DIALECT.test(dialect) || files.get(dialect)?.schema["$vocabulary"] !== undefined;
}

function createRegistry({ files, broken }: Found, pool: WorkerPool): SchemaRegistry {
  const entries = entriesOf(files);
  const ids = new Set(entries.map(({ id }) => id));
  const compiled = new Map<string, Promise<CompiledSchema>>();
  let project: Promise<ProjectSchemas> | undefined;
  let sound = broken.length === 0;
  const compile = (id: string): Promise<CompiledSchema> => {
    const schema = compiled.get(id) ?? compileBuiltIn(files, id);
    compiled.set(id, schema);
    return schema;
  };
  const phasePlan = (): Promise<CompiledSchema> => compile(PHASE_PLAN);
  const projectSchemas = (): Promise<ProjectSchemas> =>
    (project ??= import("./project/project-schema.ts").then(({ createProjectSchemas }) =>
      createProjectSchemas({ set: setOf(files), pool, onBroken: () => (sound = false) }),
    ));
  const refuse = (id: string): never => {
    throw broken.find((each) => each.id === id)?.error ?? refusal(id, entries);
  };
  return {
    entries,
    ids,
    isSound: () => sound,
    read: (id) => (files.get(id) ?? refuse(id)).bytes,
    phasePlan,
    async schema(id) {
      const file = files.get(id);
      if (file === undefined) {
        const isUnpublished = ids.has(id) && !broken.some((each) => each.id === id);
        return isUnpublished ? null : refuse(id);
      }
      return file.source === "built-in" ? compile(id) : (await projectSchemas()).schema(file);
    },
    async broken() {
      const own = [...files.values()].filter(({ source }) => source === "project");
      return own.length === 0
        ? broken
        : [...broken, ...(await (await projectSchemas()).broken(own))];
    },
  };
}

function setOf(files: ReadonlyMap<string, SchemaFile>): SchemaSet {
  const digest = createHash("sha256");
  const schemas = Array.from(files.values(), ({ id, schema, bytes, source }) => {
    digest.update(`${bytes.length}:`).update(bytes);
    return { id, schema, assertsFormats: source === "built-in" };
  });
  return { digest: digest.digest("hex"), schemas };
}

async function compileBuiltIn(
  files: ReadonlyMap<string, SchemaFile>,
  id: string,
): Promise<CompiledSchema> {
  const { compileSchema } = await import("./compile-schema.ts");
  const file = files.get(id);
  if (file === undefined) {
    throw new TypeError(`the schema ${id} comes with Reprise`);
  }
  return compileSchema(file.schema);
}

function entriesOf(files: ReadonlyMap<string, SchemaFile>): SchemaEntry[] {
  const published = Array.from(files.values(), ({ id, title, source }) => {
    return { id, title, published: true, source };
  });
  const unpublished = UNPUBLISHED.filter((id) => !files.has(id)).map((id) => {
    return { id, title: null, published: false, source: "built-in" as const };
  });
  const { "built-in": builtIn = [], project = [] } = Object.groupBy(published, (one) => one.source);
  return [...builtIn, ...unpublished, ...project];
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
