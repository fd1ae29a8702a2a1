import { Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject } from "ajv";
import addFormats from "ajv-formats";
import { RepriseError } from "../core/errors.ts";
import type { Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { describeFault } from "./schema-fault.ts";
import { locate, toValue } from "./source.ts";
import type { SourceNode } from "./source.ts";

/** Checks a document against one schema; the findings come unordered, at most `limit` of them. */
export type SchemaCheck = (root: SourceNode, lines: LineIndex, limit: number) => Finding[];

/** RFC 4122's own form. The format of ajv-formats also takes the prefix `urn:uuid:`. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * Compiles a JSON Schema (2020-12, strict: an unknown keyword or format is refused).
 *
 * @throws RepriseError `schema_invalid` when the text is no such schema.
 */
export function compileSchema(text: string): SchemaCheck {
  const validate = compile(text);
  return (root, lines, limit) => {
    if (validate(toValue(root)) === true) return [];
    const errors = validate.errors ?? [];
    return errors.slice(0, limit).map((error) => toFinding(error, root, lines));
  };
}

function compile(text: string): ReturnType<Ajv2020["compile"]> {
  // verbose: a fault's sentence needs the value and the names that its schema knows
  const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, ownProperties: true });
  addFormats.default(ajv);
  ajv.addFormat("uuid", UUID);
  try {
    return ajv.compile(JSON.parse(text));
  } catch (cause) {
    const message = "A schema file is not a valid JSON Schema 2020-12; correct or remove it.";
    throw new RepriseError("schema_invalid", message, { cause });
  }
}

function toFinding(error: ErrorObject, root: SourceNode, lines: LineIndex): Finding {
  const { atName, ...fault } = describeFault(error);
  const place = locate(root, fault.pointer);
  const offset = (atName ? place?.keyStart : place?.node.start) ?? root.start;
  return { severity: "error", ...lines(offset), ...fault };
}
