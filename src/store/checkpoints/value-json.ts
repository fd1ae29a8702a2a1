import type { StoredRef, StoredValue } from "./value.ts";

/** Begins the body of every chunk, and no JSON: a chunk is never taken for a message or a shape. */
const CHUNK = "+";

/** The body of a chunk of a value's JSON. */
export function chunkBody(text: string): string {
  return CHUNK + text;
}

/** The JSON of a value that is more than a list of messages, and what it refers to. */
export function jsonOf(
  value: Exclude<StoredValue, { readonly l: unknown }>,
  text: (body: number) => string,
): { readonly json: unknown; readonly refs: readonly StoredRef[] } {
  if ("c" in value) {
    const chunks = value.c.map((body) => chunkText(text(body)));
    return { json: JSON.parse(chunks.join("")), refs: value.r ?? [] };
  }
  return "b" in value
    ? { json: JSON.parse(text(value.b)), refs: value.r ?? [] }
    : { json: value[0], refs: value[1] ?? [] };
}

function chunkText(body: string): string {
  if (!body.startsWith(CHUNK)) {
    throw new RangeError("a checkpoint refers to a body that is not a chunk");
  }
  return body.slice(CHUNK.length);
}
