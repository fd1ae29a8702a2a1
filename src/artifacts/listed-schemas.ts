import type { SchemaEntry, SchemaRegistry } from "./registry.ts";

/** A schema, or a file that should hold one. */
export interface ListedSchema extends Omit<SchemaEntry, "id"> {
  /** Null for a broken file whose id cannot be read. */
  readonly id: string | null;
  /** Reason why a schema cannot be used. */
  readonly error?: string;
}

/**
 * Each known schema, a broken one with its error; then the files that are broken and nothing else.
 *
 * Error codes: `schema_checks_busy`.
 */
export async function listedSchemas(registry: SchemaRegistry): Promise<ListedSchema[]> {
  const broken = Map.groupBy(await registry.broken(), ({ owns }) => owns);
  const errors = new Map(broken.get(true)?.map(({ id, error }) => [id, error.message]));
  const known = registry.entries.map((entry) => {
    const error = errors.get(entry.id);
    return error === undefined ? entry : { ...entry, error };
  });
  const files = (broken.get(false) ?? []).map(({ id, error: { message: error } }) => {
    return { id, title: null, published: false, source: "project" as const, error };
  });
  return [...known, ...files];
}
