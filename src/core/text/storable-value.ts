import { isStorableName, storableText } from "./text.ts";

/**
 * A JSON value with every text and name as the store keeps it: strict parsers refuse
 * half characters.
 */
export function storableValue<Value>(value: Value): Value;
export function storableValue(value: unknown): unknown {
  if (typeof value === "string") {
    return storableText(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) => storableValue(item));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isStorableName(storableText(name)))
      .map(([name, member]) => [storableText(name), storableValue(member)]),
  );
}
