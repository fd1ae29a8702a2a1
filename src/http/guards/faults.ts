import type { ErrorObject } from "ajv";

import type { Fault } from "../../core/errors.ts";
import { MAX_FAULTS } from "../../core/limits.ts";

/**
 * Ajv's errors in sentences of our own. They never hold a value or a property name that the
 * client sent: an unknown field is reported at its parent, with the names that would be known.
 * Needs errors of a validator with `verbose`.
 */
export function faultsOf(errors: readonly ErrorObject[], what: "field" | "parameter"): Fault[] {
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

function faultOf(error: ErrorObject, what: "field" | "parameter"): Fault {
  const pointer = error.instancePath;
  const { params } = error;
  switch (error.keyword) {
    case "required":
      return {
        pointer: `${pointer}/${String(params["missingProperty"])}`,
        message: `This ${what} is required.`,
      };
    case "additionalProperties":
      return { pointer, message: unknownName(error, what) };
    case "type":
      return { pointer, message: `Must be ${typeWords(params["type"])}.` };
    case "enum":
      return { pointer, message: `Must be one of ${namesOf(params["allowedValues"])}.` };
    case "minimum":
      return { pointer, message: `Must be at least ${String(params["limit"])}.` };
    case "maximum":
      return { pointer, message: `Must be at most ${String(params["limit"])}.` };
    case "minLength":
      return { pointer, message: `Must have at least ${String(params["limit"])} character.` };
    case "maxLength":
      return { pointer, message: `Must have at most ${String(params["limit"])} characters.` };
    case "pattern":
      return { pointer, message: `Must be ${descriptionOf(error)}.` };
    case "format":
      return {
        pointer,
        message: "Must be text without NUL characters and lone surrogates, which no store keeps.",
      };
    default:
      return { pointer, message: "Does not fit the schema in /openapi.json." };
  }
}

function unknownName(error: ErrorObject, what: string): string {
  const known = Object.keys(error.parentSchema?.["properties"] ?? {});
  return known.length === 0
    ? `Holds an unknown ${what}; no ${what} is known here.`
    : `Holds an unknown ${what}; known are ${known.join(", ")}.`;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "a whole number",
  boolean: "true or false",
  object: "a JSON object",
  null: "null",
};

function typeWords(type: unknown): string {
  const types: readonly unknown[] = Array.isArray(type) ? type : String(type).split(",");
  return types.map((each) => TYPE_WORDS[String(each)] ?? String(each)).join(" or ");
}

function namesOf(values: unknown): string {
  return Array.isArray(values) ? values.map(String).join(", ") : "the known values";
}

function descriptionOf(error: ErrorObject): string {
  const description: unknown = error.parentSchema?.["description"];
  return typeof description === "string" ? description : "of the documented form";
}
