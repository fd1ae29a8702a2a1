import type { Fault } from "../errors.ts";
import { MAX_FAULTS } from "../limits.ts";

/** A rule of a schema that a value breaks, as ajv reports one. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer to the value. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly parentSchema?: object | undefined;
}

/** By keyword: what a value must be or have, with what the schema says of it. */
const REQUIREMENTS: Readonly<Record<string, (limit: string, ...others: string[]) => string>> = {
  type: (...types) => `be ${types.map(withArticle).join(" or ")}`,
  minimum: (limit) => `be ${limit} or more`,
  maximum: (limit) => `be ${limit} or less`,
  exclusiveMinimum: (limit) => `be more than ${limit}`,
  exclusiveMaximum: (limit) => `be less than ${limit}`,
  multipleOf: (factor) => `be a multiple of ${factor}`,
  minLength: (limit) => (limit === "1" ? "not be empty" : `have at least ${limit} characters`),
  maxLength: (limit) => `have at most ${limit} characters`,
  minItems: (limit) => `have at least ${limit} items`,
  maxItems: (limit) => `have at most ${limit} items`,
  minProperties: (limit) => `have at least ${limit} members`,
  maxProperties: (limit) => `have at most ${limit} members`,
  uniqueItems: () => "not hold an item twice",
};

/**
 * Says what a value must be or have, to follow a "must": `be 1 or more`. Holds nothing of the value, only words of
 * the schema; null for a rule that has no words here.
 */
export function requirementOf({ keyword, params }: SchemaError): string | null {
  const [limit = "", ...others] = [params["limit"] ?? params[keyword]].flat().map(String);
  return REQUIREMENTS[keyword]?.(limit, ...others) ?? null;
}

/**
 * Ajv's errors for a client, `MAX_FAULTS` at most. They never hold a value or a property
 * name that was sent: an unknown field is reported at its parent, with the names that are known.
 * Needs errors of a validator with `verbose`.
 */
export function faultsOf(errors: readonly SchemaError[], what: "field" | "parameter"): Fault[] {
  const faults = new Map<string, Fault>();
  for (const error of errors) {
    const fault = faultOf(error, what);
    faults.set(`${fault.pointer} ${fault.message}`, fault);
    if (faults.size === MAX_FAULTS) {
      break;
    }
  }
  return [...faults.values()];
}

function faultOf(error: SchemaError, what: "field" | "parameter"): Fault {
  const missing = error.keyword === "required" ? `/${String(error.params["missingProperty"])}` : "";
  // the names of its members are the client's
  const pointer = error.instancePath.replace(/^\/metadata\/.*/su, "/metadata");
  return { pointer: pointer + missing, message: messageOf(error, what) };
}

function messageOf(error: SchemaError, what: "field" | "parameter"): string {
  switch (error.keyword) {
    case "required":
      return `This ${what} is required.`;
    case "additionalProperties":
      return `Has an unknown ${what}. Allowed: ${knownNames(error).join(", ") || "none"}.`;
    case "enum":
      return `Must be one of ${[error.params["allowedValues"]].flat().join(", ")}.`;
    case "pattern":
    case "propertyNames":
      return `Must be ${descriptionOf(error)}.`;
    case "format":
      return error.params["format"] === STORABLE_TEXT
        ? "Must not contain NUL or unpaired surrogates."
        : `Must be ${descriptionOf(error)}.`;
    default:
      return `Must ${requirementOf(error) ?? "follow the documented schema"}.`;
  }
}

/** The format of text that both databases can store. */
export const STORABLE_TEXT = "storable-text";

/** The properties that the schema has at the position of the error. */
export function knownNames(error: SchemaError): string[] {
  return Object.keys(Object(Reflect.get(error.parentSchema ?? {}, "properties")));
}

function descriptionOf(error: SchemaError): string {
  const description: unknown = Reflect.get(error.parentSchema ?? {}, "description");
  return typeof description === "string" ? description : "of the documented form";
}

/** The name of a JSON type in a sentence: `an object`, `null`. */
export function withArticle(type: string): string {
  if (type === "null") {
    return type;
  }
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
