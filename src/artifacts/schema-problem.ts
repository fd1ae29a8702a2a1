import type { FindingCode } from "../core/schemas/artifact-schemas.ts";
import type { Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { adviceOf, createNearestName } from "../core/text/nearest-name.ts";
import {
  knownNames,
  requirementOf,
  type SchemaError,
  withArticle,
} from "../core/schemas/schema-errors.ts";
import { oneLine, quote } from "../core/text/terminal-text.ts";
import { findPosition, nameOfStep, pointerTo, type SourceNode } from "./sources/source.ts";

export interface SchemaProblem {
  readonly code: FindingCode;
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
  /** Whether the property's name is meant, not its value. */
  readonly atName: boolean;
}

/** Describes one error of a document against its schema as a sentence a person can act on. */
export function describeProblem(error: SchemaError): SchemaProblem {
  const unknown: unknown =
    error.params["additionalProperty"] ?? error.params["unevaluatedProperty"];
  if (typeof unknown === "string") {
    return unknownProperty(error, unknown);
  }
  const pointer = error.instancePath;
  const code = CODES.get(error.keyword) ?? "schema_mismatch";
  return { code, pointer, message: `${nameOf(pointer)} ${problemOf(error)}`, atName: false };
}

/** Other rules are those that none of our schemas has; a project's may. */
const CODES = new Map<string, FindingCode>([
  ["required", "missing_property"],
  ["dependentRequired", "missing_property"],
  ["type", "wrong_type"],
  ["minLength", "too_short"],
  ["pattern", "pattern_mismatch"],
  ["format", "format_mismatch"],
  ["minimum", "below_minimum"],
]);

/** An error with its position in the document's text. */
export function toPositionedFinding(
  { atName, ...problem }: SchemaProblem,
  root: SourceNode,
  lines: LineIndex,
): Finding {
  const place = findPosition(root, problem.pointer);
  const offset = (atName ? place?.keyStart : place?.value.start) ?? root.start;
  return { severity: "error", ...lines(offset), ...problem };
}

/** Says what is wrong with a value, to be read after its name. */
function problemOf(error: SchemaError): string {
  const { keyword, params, data } = error;
  const required = requirementOf(error);
  switch (keyword) {
    case "required":
    case "dependentRequired":
      return `lacks the required property ${quote(String(params["missingProperty"]))}; add it`;
    case "type":
      return `must ${required} but is ${kindOf(data)}`;
    case "minLength":
      // a text that must not be empty has none
      return `must ${required}${params["limit"] === 1 ? "" : ` but has ${Array.from(String(data)).length}`}`;
    case "pattern": {
      const pattern = String(params["pattern"]);
      return PATTERNS.get(pattern) ?? `must match the pattern ${pattern}`;
    }
    case "format":
      return `must be a ${params["format"] === "uuid" ? UUID : String(params["format"])}`;
    case "enum":
      return `must be one of ${[params["allowedValues"]].flat().map(spell).join(", ")}`;
    case "const":
      return `must be ${spell(params["allowedValue"])}`;
    case "false schema":
      return "is not allowed here";
    case "anyOf":
    case "oneOf":
      return "matches none or more than one of the alternatives that the schema allows";
    default:
      return required === null
        ? `does not follow the schema's rule ${quote(keyword)}`
        : `must ${required}`;
  }
}

const UUID = "UUID, like 123e4567-e89b-42d3-a456-426614174000";

const PATTERNS = new Map([
  [
    "^[a-z][a-z0-9-]*$",
    "must begin with a lowercase letter and hold only lowercase letters, digits and hyphens",
  ],
]);

function spell(value: unknown): string {
  return typeof value === "string" ? quote(value) : oneLine(JSON.stringify(value)).slice(0, 60);
}

function unknownProperty(error: SchemaError, property: string): SchemaProblem {
  const known = knownNames(error);
  const allowed = known.length === 0 ? "nothing" : known.join(", ");
  const { advice, ...suggestion } = adviceOf(
    createNearestName(known)(property),
    `remove it; allowed here: ${allowed}`,
  );
  return {
    code: "unknown_property",
    pointer: pointerTo(error.instancePath, property),
    message: `the property ${quote(property)} is unknown; ${advice}`,
    ...suggestion,
    atName: true,
  };
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
