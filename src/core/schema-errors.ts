import type { Fault } from "./errors.ts";
import { MAX_FAULTS } from "./limits.ts";

/** A rule of a schema that a value breaks, as ajv reports one. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer to the value. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly parentSchema?: object | undefined;
}

/**
 * What a value must be or have, to follow a "must": `be 1 or more`. It holds nothing of the value,
 * only words of the schema; null for a rule that has no words here.
 */
export function requirementOf(error: SchemaError): string | null {
  const limit = String(error.params["limit"]);
  switch (error.keyword) {
    case "type":
      return `be ${[error.params["type"]].flat().map(String).map(withArticle).join(" or ")}`;
    case "minimum":
      return `be ${limit} or more`;
    case "maximum":
      return `be ${limit} or less`;
    case "exclusiveMinimum":
      return `be more than ${limit}`;
    case "exclusiveMaximum":
      return `be less than ${limit}`;
    case "multipleOf":
      return `be a multiple of ${String(error.params["multipleOf"])}`;
    case "minLength":
      return limit === "1" ? "not be empty" : `have at least ${limit} characters`;
    case "maxLength":
      return `have at most ${limit} characters`;
    case "minItems":
      return `have at least ${limit} items`;
    case "maxItems":
      return `have at most ${limit} items`;
    case "uniqueItems":
      return "not hold an item twice";
    default:
      return null;
  }
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
  const pointer = error.instancePath;
  switch (error.keyword) {
    case "required":
      return {
        pointer: `${pointer}/${String(error.params["missingProperty"])}`,
        message: `This ${what} is required.`,
      };
    case "additionalProperties": {
      const known = knownNames(error).join(", ") || "none";
      return { pointer, message: `Has an unknown ${what}. Allowed: ${known}.` };
    }
    case "enum":
      return {
        pointer,
        message: `Must be one of ${[error.params["allowedValues"]].flat().join(", ")}.`,
      };
    case "pattern":
      return { pointer, message: `Must be ${descriptionOf(error)}.` };
    case "format":
      return { pointer, message: "Must not contain NUL or unpaired surrogates." };
    default:
      return {
        pointer,
        message: `Must ${requirementOf(error) ?? "follow the documented schema"}.`,
      };
  }
}

/** The properties that the schema knows where the error is. */
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
