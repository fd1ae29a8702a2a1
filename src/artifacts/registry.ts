import { readFile } from "node:fs/promises";
import { RepriseError } from "../core/errors.ts";

/** A schema known by its id; `file` is null where nobody published what the schema says. */
export interface SchemaEntry {
  readonly id: string;
  readonly file: URL | null;
}

export interface SchemaRegistry {
  /** Every known schema, in the order given. */
  readonly entries: readonly SchemaEntry[];
  /**
   * The bytes of a schema's file.
   *
   * @throws RepriseError `schema_unknown` for an id that is not known, or known but unpublished.
   */
  read(id: string): Promise<Buffer>;
}

/** The id of the phase-plan artifact's schema. */
export const PHASE_PLAN = "dev/phase-plan@1";

/** The schemas that come with Reprise, from its own `schemas/` directory. */
export function builtInSchemas(): SchemaEntry[] {
  return [
    { id: PHASE_PLAN, file: new URL("../../schemas/dev/phase-plan@1.json", import.meta.url) },
    { id: "dev/spec@1", file: null },
    { id: "dev/review-finding-batch@1", file: null },
    { id: "common/final-report@1", file: null },
  ];
}

/** A registry of the given schemas; of two with one id the first counts. */
export function createSchemaRegistry(entries: readonly SchemaEntry[]): SchemaRegistry {
  return {
    entries,
    async read(id) {
      const entry = entries.find((known) => known.id === id);
      if (entry === undefined) throw unknownId(entries);
      if (entry.file === null) throw unpublished(entry.id);
      return readFile(entry.file);
    },
  };
}

function unknownId(entries: readonly SchemaEntry[]): RepriseError {
  const published = entries.filter(({ file }) => file !== null).map(({ id }) => id);
  const others = entries.filter(({ file }) => file === null).map(({ id }) => id);
  const ids = `${published.join(", ")} can be printed; ${others.join(", ")} are known by id only`;
  return new RepriseError("schema_unknown", `No schema has this id. Of the known ids ${ids}.`);
}

function unpublished(id: string): RepriseError {
  const message = `The id ${id} is known, but its fields were never published, so there is no schema to print.`;
  return new RepriseError("schema_unknown", message);
}
