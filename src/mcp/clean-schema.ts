import { visible } from "../core/text/terminal-text.ts";
import { storableText } from "../core/text/text.ts";

/** Schema of the arguments of a tool: an object. */
export interface ToolSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

const MAX_DEPTH = 20;
const MAX_NODES = 2000;
const MAX_TEXT = 2000;

/** Names of properties that every provider accepts. */
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Keywords with one schema, with a list of them, and with an object of them. */
const ONE = new Set(["items", "not", "contains", "propertyNames", "additionalProperties"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const MAPS = new Set(["properties", "$defs", "definitions"]);

/** Keywords whose values are kept. No `pattern`: some of them take for ever to be checked. */
const VALUES = new Set([
  "type",
  "enum",
  "const",
  "default",
  "required",
  "format",
  "nullable",
  "uniqueItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
]);
const TEXTS = new Set(["title", "description"]);

/** Not at the top of a schema: some providers refuse it there. */
const NOT_AT_TOP = new Set(["anyOf", "oneOf", "allOf", "not", "enum", "const"]);

class Refused extends Error {}

/**
 * Returns a schema with keywords that providers know alone, or the end of a sentence that says why it cannot be used.
 * It is never resolved or compiled here.
 */
export function cleanSchema(given: unknown): ToolSchema | string {
  let nodes = 0;
  const count = (depth: number): void => {
    nodes += 1;
    if (depth > MAX_DEPTH || nodes > MAX_NODES) {
      throw new Refused("its schema is too large or too deep");
    }
  };
  const schemaAt = (value: unknown, depth: number): unknown => {
    count(depth);
    if (typeof value === "boolean") {
      return value;
    }
    if (!isRecord(value)) {
      throw new Refused("its schema is none");
    }
    return Object.fromEntries(
      Object.entries(value).flatMap(([keyword, member]) => {
        const clean = keywordAt(keyword, member, depth);
        return clean === undefined ? [] : [[keyword, clean]];
      }),
    );
  };
  const keywordAt = (keyword: string, member: unknown, depth: number): unknown => {
    if (depth === 0 && NOT_AT_TOP.has(keyword)) {
      return undefined;
    }
    if (keyword === "$ref") {
      return localReference(member);
    }
    if (ONE.has(keyword)) {
      return schemaAt(member, depth + 1);
    }
    if (LISTS.has(keyword)) {
      return Array.isArray(member)
        ? member.map((each: unknown) => schemaAt(each, depth + 1))
        : undefined;
    }
    if (MAPS.has(keyword)) {
      return isRecord(member) ? mapAt(member, keyword, depth) : undefined;
    }
    if (TEXTS.has(keyword)) {
      return typeof member === "string" ? cleanText(member) : undefined;
    }
    return VALUES.has(keyword) ? valueAt(member, depth + 1) : undefined;
  };
  const mapAt = (members: Record<string, unknown>, keyword: string, depth: number) =>
    Object.fromEntries(
      Object.entries(members).map(([name, member]) => {
        if (!PROPERTY.test(name) || name === "__proto__") {
          throw new Refused(
            keyword === "properties"
              ? "a name of its arguments has other characters than letters, digits, _, . and -"
              : "a name in its schema has other characters than letters, digits, _, . and -",
          );
        }
        return [name, schemaAt(member, depth + 1)];
      }),
    );
  const valueAt = (value: unknown, depth: number): unknown => {
    count(depth);
    if (typeof value === "string") {
      return storableText(value);
    }
    if (Array.isArray(value)) {
      return value.map((each: unknown) => valueAt(each, depth + 1));
    }
    return isRecord(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => name !== "__proto__")
            .map(([name, each]) => [storableText(name), valueAt(each, depth + 1)]),
        )
      : value;
  };
  try {
    const schema = schemaAt(given ?? {}, 0);
    return isRecord(schema) ? { properties: {}, ...schema, type: "object" } : "its schema is none";
  } catch (error) {
    if (error instanceof Refused) {
      return error.message;
    }
    throw error;
  }
}

function localReference(member: unknown): string {
  if (typeof member !== "string" || !/^#(\/[\w.$-]{1,64}){0,8}$/.test(member)) {
    throw new Refused("its schema refers to another document");
  }
  return member;
}

function cleanText(text: string): string {
  return visible(storableText(text.slice(0, MAX_TEXT)));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
