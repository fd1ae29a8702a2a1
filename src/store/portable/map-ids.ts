import type { StoredRef, StoredValue } from "../checkpoints/value.ts";

/** Where the bodies and lists of a thread are in the other place. Each throws for what is not there. */
export interface IdMap {
  body(place: number): number;
  list(place: number, length: number): number;
}

/**
 * A stored value that refers to the same things in another place: ids become places in a document,
 * or places ids. Throws a RangeError for what is no stored value.
 */
export function mapIds(value: unknown, places: IdMap): StoredValue {
  if (Array.isArray(value)) {
    const [json, refs]: unknown[] = value;
    switch (value.length) {
      case 1:
        return [json];
      case 2:
        return [json, relocateRefs(refs, places)];
      default:
        throw misfit();
    }
  }
  if (typeof value !== "object" || value === null) {
    throw misfit();
  }
  const { b, r, l, ...others }: Partial<Record<string, unknown>> = { ...value };
  if (Object.keys(others).length > 0 || (b === undefined) === (l === undefined)) {
    throw misfit();
  }
  if (l !== undefined) {
    const version = relocateRef(l, places);
    if (r !== undefined || typeof version === "number") {
      throw misfit();
    }
    return { l: version };
  }
  const body = places.body(wholeNumber(b));
  return r === undefined ? { b: body } : { b: body, r: relocateRefs(r, places) };
}

function relocateRefs(refs: unknown, places: IdMap): StoredRef[] {
  if (!Array.isArray(refs)) {
    throw misfit();
  }
  return refs.map((ref: unknown) => relocateRef(ref, places));
}

function relocateRef(ref: unknown, places: IdMap): StoredRef {
  if (!Array.isArray(ref)) {
    return places.body(wholeNumber(ref));
  }
  const [list, length]: unknown[] = ref;
  if (ref.length !== 2) {
    throw misfit();
  }
  return [places.list(wholeNumber(list), wholeNumber(length)), wholeNumber(length)];
}

function wholeNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw misfit();
  }
  return value;
}

function misfit(): RangeError {
  return new RangeError("this is no value of a checkpoint");
}
