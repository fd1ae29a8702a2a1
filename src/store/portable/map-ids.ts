import { type StoredRef, type StoredValue, storedValue } from "../checkpoints/value.ts";

/** Names of the bodies and lists of a thread on the other side. Each throws for what is not there. */
export interface IdMap {
  body(id: number): number;
  list(id: number, length: number): number;
}

/**
 * A stored value that refers to the same things elsewhere: ids become positions in a document,
 * or positions ids. Error codes: as `storedValue`.
 */
export function mapIds(value: unknown, ids: IdMap): StoredValue {
  const stored = storedValue(value);
  if ("l" in stored) {
    return { l: mapList(stored.l, ids) };
  }
  if ("b" in stored) {
    const b = ids.body(stored.b);
    return stored.r === undefined ? { b } : { b, r: mapRefs(stored.r, ids) };
  }
  if ("c" in stored) {
    const c = stored.c.map((chunk) => ids.body(chunk));
    return stored.r === undefined ? { c } : { c, r: mapRefs(stored.r, ids) };
  }
  const [json, refs] = stored;
  return refs === undefined ? [json] : [json, mapRefs(refs, ids)];
}

function mapRefs(refs: readonly StoredRef[], ids: IdMap): StoredRef[] {
  return refs.map((ref) => (typeof ref === "number" ? ids.body(ref) : mapList(ref, ids)));
}

function mapList([list, length]: readonly [number, number], ids: IdMap): readonly [number, number] {
  return [ids.list(list, length), length];
}
