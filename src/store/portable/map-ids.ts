import type { StoredRef, StoredValue } from "../checkpoints/value.ts";

/**
 * What the bodies and lists of a thread are called on the other side. Each throws for what is
 * not there.
 */
export interface IdMap {
  body(id: number): number;
  list(id: number, length: number): number;
}

/**
 * A stored value that refers to the same things elsewhere: ids become positions in a document,
 * or positions ids. Throws a RangeError for anything but a stored value.
 */
export function mapIds(value: unknown, ids: IdMap): StoredValue {
  if (Array.isArray(value)) {
    const [json, refs]: unknown[] = value;
    switch (value.length) {
      case 1:
        return [json];
      case 2:
        return [json, mapRefs(refs, ids)];
      default:
        throw invalidValue();
    }
  }
  if (typeof value !== "object" || value === null) {
    throw invalidValue();
  }
  const { b, r, l, ...others }: Partial<Record<string, unknown>> = { ...value };
  if (Object.keys(others).length > 0 || (b === undefined) === (l === undefined)) {
    throw invalidValue();
  }
  if (l !== undefined) {
    const version = mapRef(l, ids);
    if (r !== undefined || typeof version === "number") {
      throw invalidValue();
    }
    return { l: version };
  }
  const body = ids.body(wholeNumber(b));
  return r === undefined ? { b: body } : { b: body, r: mapRefs(r, ids) };
}

function mapRefs(refs: unknown, ids: IdMap): StoredRef[] {
  if (!Array.isArray(refs)) {
    throw invalidValue();
  }
  return refs.map((ref: unknown) => mapRef(ref, ids));
}

function mapRef(ref: unknown, ids: IdMap): StoredRef {
  if (!Array.isArray(ref)) {
    return ids.body(wholeNumber(ref));
  }
  const [list, length]: unknown[] = ref;
  if (ref.length !== 2) {
    throw invalidValue();
  }
  return [ids.list(wholeNumber(list), wholeNumber(length)), wholeNumber(length)];
}

function wholeNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidValue();
  }
  return value;
}

function invalidValue(): RangeError {
  return new RangeError("this is not a value of a checkpoint");
}
