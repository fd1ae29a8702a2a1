import type { SchemaEntry, SchemaRegistry } from "./registry.ts";

/** A schema, or a file that should hold one. */
export interface ListedSchema extends Omit<SchemaEntry, "id"> {
  /** Null for a broken file whose id cannot be read. */
  readonly id: string | null;
  /** Of a schema that cannot be used: its file and what is wrong. */
  readonly error?: string;
}

/**
 * Each known schema, a broken one with its error; then the files that are broken and nothing else.
 *
 * Error codes: `schema_checks_busy`.
 */
export async function listedSchemas(registry: SchemaRegistry): Promise<ListedSchema[]> {
  const broken = await registry.broken();
  const rest = new Set(broken);
  const known = registry.entries.map((entry) => {
    const fault = broken.find(({ id, owns }) => owns && id === entry.id);
    if (fault === undefined) {
      return entry;
    }
    rest.delete(fault);
    return { ...entry, error: fault.fault.message };
  });
  const files = Array.from(rest, ({ id, fault }) => {
    const error = fault.message;
    return { id, title: null, published: false, source: "project" as const, error };
  });
  return [...known, ...files];
}
