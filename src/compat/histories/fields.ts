export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** Returns an object's members; none for every other value. */
export function fieldsIn(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : NONE;
}

/** Returns a list's items; none for every other value. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a text; empty for every other value. */
export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns a text that is not empty; null for every other value. */
export function nameIn(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/** Returns a time from its text or its milliseconds, in UTC; null for what is none. */
export function timeIn(value: unknown): string | null {
  const ms =
    typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return ms >= 0 && ms <= LAST ? new Date(ms).toISOString() : null;
}

/** Returns the arguments of a call from an object or its JSON; a text that is not JSON becomes one argument. */
export function argsIn(value: unknown): Fields {
  if (typeof value !== "string") {
    return fieldsIn(value);
  }
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Fields)
      : { input: value };
  } catch {
    return { input: value };
  }
}

/** Joins the texts of blocks, with a line for each other block, such as an image. */
export function blocksText(value: unknown): string {
  if (typeof value === "string") {
    return value;
  }
  return listIn(value)
    .map((block) => {
      const { text, type } = fieldsIn(block);
      return typeof text === "string" ? text : `[${nameIn(type) ?? "block"}: not imported]`;
    })
    .join("\n");
}
