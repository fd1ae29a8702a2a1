import { at, LIST, MESSAGE, type StoredRef, type StoredValue } from "./value.ts";
import { jsonOf } from "./value-json.ts";

/** Rows that values refer to. `text` throws for a body that is not there. */
export interface Referred {
  text(body: number): string;
  isMessage(body: number): boolean;
  areMessages(list: number, length: number): boolean;
}

/**
 * True if a value and all messages that it refers to can be read. Throws an error that `isDamage`
 * accepts if its JSON or its refs do not fit.
 */
export function isWhole(value: StoredValue, referred: Referred): boolean {
  if ("l" in value) {
    return isRef(value.l, referred);
  }
  const { json, refs } = jsonOf(value, (body) => referred.text(body));
  return areKnown(json, (index) => isRef(at(refs, index), referred));
}

function isRef(ref: StoredRef, referred: Referred): boolean {
  return typeof ref === "number" ? referred.isMessage(ref) : referred.areMessages(...ref);
}

function areKnown(json: unknown, isKnown: (index: number) => boolean): boolean {
  if (typeof json !== "object" || json === null) {
    return true;
  }
  return MESSAGE in json || LIST in json
    ? isKnown(Number(Reflect.get(json, MESSAGE in json ? MESSAGE : LIST)))
    : Object.values(json).every((member) => areKnown(member, isKnown));
}
