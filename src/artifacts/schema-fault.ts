import type { ErrorObject } from "ajv";
import type { FindingCode } from "./finding.ts";
import { createNearestName } from "./nearest-name.ts";
import { quote } from "./quote.ts";
import { pointerTo } from "./source.ts";

export interface SchemaFault {
  readonly code: FindingCode;
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
  /** Whether the property's name is meant, not its value. */
  readonly atName: boolean;
}

/** Says one fault of a document against its schema as a sentence a person can act on. */
export function describeFault(error: ErrorObject): SchemaFault {
  if (error.keyword === "additionalProperties") return unknownProperty(error);
  const pointer = error.instancePath;
  const [code, message] = sentence(error, nameOf(pointer));
  return { code, pointer, message, atName: false };
}

function sentence(error: ErrorObject, name: string): [FindingCode, string] {
  const limit = String(error.params["limit"]);
  switch (error.keyword) {
    case "required":
      return ["missing_property", missing(name, String(error.params["missingProperty"]))];
    case "type":
      return ["wrong_type", wrongType(name, error)];
    case "minLength":
      return ["too_short", tooShort(name, error)];
    case "pattern":
      return ["pattern_mismatch", mismatch(name, String(error.params["pattern"]))];
    case "format":
      return ["format_mismatch", `${name} must be a ${formatName(error)}`];
    case "minimum":
      return ["below_minimum", `${name} must be ${limit} or more`];
    default:
      return ["schema_mismatch", `${name} does not fit the schema's rule ${quote(error.keyword)}`];
  }
}

function unknownProperty(error: ErrorObject): SchemaFault {
  const property = String(error.params["additionalProperty"]);
  const known = Object.keys(Object(error.parentSchema?.["properties"]));
  const suggestion = createNearestName(known)(property);
  const advice =
    suggestion === undefined
      ? `remove it, as only ${known.join(", ")} may stand here`
      : `did you mean ${quote(suggestion)}?`;
  return {
    code: "unknown_property",
    pointer: pointerTo(error.instancePath, property),
    message: `the property ${quote(property)} is unknown; ${advice}`,
    ...(suggestion === undefined ? {} : { suggestion }),
    atName: true,
  };
}

function missing(name: string, property: string): string {
  return `${name} lacks the required property ${quote(property)}; add it`;
}

function wrongType(name: string, error: ErrorObject): string {
  const wanted = [error.params["type"]].flat().map(String).map(withArticle).join(" or ");
  return `${name} must be ${wanted} but is ${kindOf(error.data)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" && !Number.isFinite(value)) return "a number beyond all bounds";
  return withArticle(typeof value);
}

function withArticle(type: string): string {
  if (type === "null") return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function tooShort(name: string, error: ErrorObject): string {
  const limit = Number(error.params["limit"]);
  const length = Array.from(String(error.data)).length;
  if (length === 0 && limit === 1) return `${name} must not be empty`;
  return `${name} must have at least ${limit} characters but has ${length}`;
}

const PATTERNS = new Map([
  [
    "^[a-z][a-z0-9-]*$",
    "must begin with a lowercase letter and hold only lowercase letters, digits and hyphens",
  ],
]);

function mismatch(name: string, pattern: string): string {
  return `${name} ${PATTERNS.get(pattern) ?? `must match the pattern ${pattern}`}`;
}

function formatName(error: ErrorObject): string {
  const format = String(error.params["format"]);
  return format === "uuid" ? "UUID, like 123e4567-e89b-42d3-a456-426614174000" : format;
}

/** The last property name on the way, with the position of an array's item: `depends_on[2]`. */
function nameOf(pointer: string): string {
  const steps = pointer.split("/").slice(1);
  const last = steps.findLastIndex((step) => !/^\d+$/.test(step));
  if (last === -1) return "the document";
  const positions = steps.slice(last + 1).map((step) => `[${step}]`);
  return `${steps[last] ?? ""}${positions.join("")}`;
}
