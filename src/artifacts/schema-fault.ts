import type { FindingCode, Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { adviceOf, createNearestName } from "../core/nearest-name.ts";
import { knownNames, requirementOf, type SchemaError, withArticle } from "../core/schema-errors.ts";
import { oneLine, quote } from "../core/terminal-text.ts";
import { findPosition, nameOfStep, pointerTo, type SourceNode } from "./source.ts";

export interface SchemaFault {
  readonly code: FindingCode;
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
  /** Whether the property's name is meant, not its value. */
  readonly atName: boolean;
}

/** Describes one error of a document against its schema as a sentence a person can act on. */
export function describeFault(error: SchemaError): SchemaFault {
  const unknown: unknown =
    error.params["additionalProperty"] ?? error.params["unevaluatedProperty"];
  if (typeof unknown === "string") {
    return unknownProperty(error, unknown);
  }
  const pointer = error.instancePath;
  const [code, message] = sentence(error, nameOf(pointer));
  return { code, pointer, message, atName: false };
}

/** An error with its position in the document's text. */
export function toPositionedFinding(
  { atName, ...fault }: SchemaFault,
  root: SourceNode,
  lines: LineIndex,
): Finding {
  const place = findPosition(root, fault.pointer);
  const offset = (atName ? place?.keyStart : place?.node.start) ?? root.start;
  return { severity: "error", ...lines(offset), ...fault };
}

function sentence(error: SchemaError, name: string): [FindingCode, string] {
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
      return ["below_minimum", `${name} must ${requirementOf(error)}`];
    default:
      return ["schema_mismatch", otherSentence(error, name)];
  }
}

/** Rules that none of our schemas has; a project's may. */
function otherSentence(error: SchemaError, name: string): string {
  const allowed: unknown = error.params["allowedValues"];
  switch (error.keyword) {
    case "enum":
      return `${name} must be one of ${[allowed].flat().map(spell).join(", ")}`;
    case "const":
      return `${name} must be ${spell(error.params["allowedValue"])}`;
    case "false schema":
      return `${name} is not allowed here`;
    case "anyOf":
    case "oneOf":
      return `${name} fits none or too many of the forms that the schema allows`;
    default: {
      const required = requirementOf(error);
      return required === null
        ? `${name} does not follow the schema's rule ${quote(error.keyword)}`
        : `${name} must ${required}`;
    }
  }
}

function spell(value: unknown): string {
  return typeof value === "string" ? quote(value) : oneLine(JSON.stringify(value)).slice(0, 60);
}

function unknownProperty(error: SchemaError, property: string): SchemaFault {
  const known = knownNames(error);
  const allowed = known.length === 0 ? "nothing" : `only ${known.join(", ")}`;
  const { advice, ...suggestion } = adviceOf(
    createNearestName(known)(property),
    `remove it, as ${allowed} is allowed here`,
  );
  return {
    code: "unknown_property",
    pointer: pointerTo(error.instancePath, property),
    message: `the property ${quote(property)} is unknown; ${advice}`,
    ...suggestion,
    atName: true,
  };
}

function missing(name: string, property: string): string {
  return `${name} lacks the required property ${quote(property)}; add it`;
}

function wrongType(name: string, error: SchemaError): string {
  return `${name} must ${requirementOf(error)} but is ${kindOf(error.data)}`;
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

function tooShort(name: string, error: SchemaError): string {
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

function formatName(error: SchemaError): string {
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
  const name = nameOfStep(steps[last] ?? "");
  // a schema that is open lets a document name its properties as it likes
  return `${/^\w{1,60}$/.test(name) ? name : quote(name)}${positions.join("")}`;
}
