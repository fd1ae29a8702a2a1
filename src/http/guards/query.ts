import type { TSchema } from "typebox";

import type { Fault } from "../../core/errors.ts";

/** A query as it came: the text of each parameter, once for each time that it was given. */
export type QueryText = Readonly<Record<string, readonly string[]>>;

/** Splits a query. The object has no prototype, so that no name means anything by itself. */
export function parseQuery(query: string): QueryText {
  const parsed: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    (parsed[name] ??= []).push(value);
  }
  return parsed;
}

/**
 * Reads text as the types that its schema asks for: whole numbers in plain digits, `true` and
 * `false`. Other text stays text, which the validator then refuses. A parameter that is given
 * twice is an error: two parts of a system could each believe another one.
 */
export function readQuery(
  query: QueryText,
  types: ParameterTypes,
): { values: Record<string, unknown>; faults: Fault[] } {
  const values: Record<string, unknown> = Object.create(null);
  const faults: Fault[] = [];
  for (const [name, [text = "", ...more]] of Object.entries(query)) {
    if (more.length > 0 && types.has(name)) {
      faults.push({ pointer: `/${name}`, message: "Give this parameter once." });
    } else {
      values[name] = readText(text, types.get(name));
    }
  }
  return { values, faults };
}

/** The type of each parameter that the schema knows, by its name. */
export type ParameterTypes = ReadonlyMap<string, unknown>;

export function parameterTypes(schema: TSchema): ParameterTypes {
  const properties = Object.entries(Object(Reflect.get(schema, "properties")));
  return new Map(
    properties.map(([name, property]) => [name, Reflect.get(Object(property), "type")]),
  );
}

function readText(text: string, type: unknown): unknown {
  if (type === "integer" && /^-?\d{1,16}$/.test(text)) {
    return Number(text);
  }
  if (type === "boolean" && (text === "true" || text === "false")) {
    return text === "true";
  }
  return text;
}
