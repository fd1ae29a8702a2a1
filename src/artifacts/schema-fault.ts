import type { FindingCode, Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { createNearestName } from "../core/nearest-name.ts";
import { escaped, quote } from "./quote.ts";
import { findPosition, pointerTo, type SourceNode } from "./source.ts";

export interface SchemaFault {
  readonly code: FindingCode;
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
  /** Whether the property's name is meant, not its value. */
  readonly atName: boolean;
}

/** A rule of a schema that a document does not keep, as ajv reports one. */
export interface RuleFault {
  readonly keyword: string;
  /** JSON pointer to the value. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly parentSchema?: object | undefined;
}

/** Says one fault of a document against its schema as a sentence a person can act on. */
export function describeFault(error: RuleFault): SchemaFault {
  const unknown: unknown =
    error.params["additionalProperty"] ?? error.params["unevaluatedProperty"];
  if (typeof unknown === "string") {
    return unknownProperty(error, unknown);
  }
  const pointer = error.instancePath;
  const [code, message] = sentence(error, nameOf(pointer));
  return { code, pointer, message, atName: false };
}

/** A fault with its place in the document's text. */
export function toPositionedFinding(
  { atName, ...fault }: SchemaFault,
  root: SourceNode,
  lines: LineIndex,
): Finding {
  const place = findPosition(root, fault.pointer);
  const offset = (atName ? place?.keyStart : place?.node.start) ?? root.start;
  return { severity: "error", ...lines(offset), ...fault };
}

function sentence(error: RuleFault, name: string): [FindingCode, string] {
  const limit = String(error.params["limit"]);
  switch (error.keyword) {
    case "required":
    case "dependentRequired":
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
      return ["schema_mismatch", otherSentence(error, name, limit)];
  }
}

/** Rules that no schema of ours has; a project's may. */
function otherSentence(error: RuleFault, name: string, limit: string): string {
  const allowed: unknown = error.params["allowedValues"];
  switch (error.keyword) {
    case "enum":
      return `${name} must be one of ${[allowed].flat().map(spell).join(", ")}`;
    case "const":
      return `${name} must be ${spell(error.params["allowedValue"])}`;
    case "maximum":
      return `${name} must be ${limit} or less`;
    case "exclusiveMinimum":
      return `${name} must be more than ${limit}`;
    case "exclusiveMaximum":
      return `${name} must be less than ${limit}`;
    case "multipleOf":
      return `${name} must be a multiple of ${String(error.params["multipleOf"])}`;
    case "maxLength":
      return `${name} must have at most ${limit} characters`;
    case "minItems":
      return `${name} must have at least ${limit} items`;
    case "maxItems":
      return `${name} must have at most ${limit} items`;
    case "uniqueItems":
      return `${name} must not hold an item twice`;
    case "false schema":
      return `${name} must not stand here`;
    case "anyOf":
    case "oneOf":
      return `${name} fits none or too many of the forms that the schema allows`;
    default:
      return `${name} does not fit the schema's rule ${quote(error.keyword)}`;
  }
}

function spell(value: unknown): string {
  return typeof value === "string" ? quote(value) : escaped(JSON.stringify(value)).slice(0, 60);
}

function unknownProperty(error: RuleFault, property: string): SchemaFault {
  const known = Object.keys(Object(Reflect.get(error.parentSchema ?? {}, "properties")));
  const suggestion = createNearestName(known)(property);
  const allowed = known.length === 0 ? "nothing" : `only ${known.join(", ")}`;
  const advice =
    suggestion === undefined
      ? `remove it, as ${allowed} may stand here`
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

function wrongType(name: string, error: RuleFault): string {
  const wanted = [error.params["type"]].flat().map(String).map(withArticle).join(" or ");
  return `${name} must be ${wanted} but is ${kindOf(error.data)}`;
}

function kindOf(value: unknown): string {
  if (value === null) {
    return "null";
  }
  if (Array.isArray(value)) {
    return "an array";
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return "beyond the largest number there is, 1.8e308";
  }
  return withArticle(typeof value);
}

function withArticle(type: string): string {
  if (type === "null") {
    return type;
  }
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function tooShort(name: string, error: RuleFault): string {
  const limit = Number(error.params["limit"]);
  const length = Array.from(String(error.data)).length;
  if (length === 0 && limit === 1) {
    return `${name} must not be empty`;
  }
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

function formatName(error: RuleFault): string {
  const format = String(error.params["format"]);
  return format === "uuid" ? "UUID, like 123e4567-e89b-42d3-a456-426614174000" : format;
}

/** The last property name on the way, with the position of an array's item: `depends_on[2]`. */
function nameOf(pointer: string): string {
  const steps = pointer.split("/").slice(1);
  const last = steps.findLastIndex((step) => !/^\d+$/.test(step));
  if (last === -1) {
    return "the document";
  }
  const positions = steps.slice(last + 1).map((step) => `[${step}]`);
  const name = (steps[last] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
  // a schema that is open lets a document name its properties as it likes
  return `${/^\w{1,60}$/.test(name) ? name : quote(name)}${positions.join("")}`;
}
