import { Ajv2020 } from "ajv/dist/2020.js";

import { type Fault, RepriseError } from "../../core/errors.ts";
import { faultsOf } from "../../core/schema-errors.ts";
import { isStorableText } from "../../core/text.ts";
import { checksumOf } from "./export-text.ts";
import { FORMAT, SessionExport, type SessionTree, SessionTreeSchema } from "./export-schema.ts";
import { inconsistencyOf } from "./consistency.ts";

/**
 * Reads an export that anybody may have written or cut off: form, checksum, and what must hold in
 * every session. What comes back can be stored.
 *
 * Error codes: `malformed_json`; `export_invalid` with a JSON pointer to the first error.
 */
export function parseExport(text: string): SessionTree {
  const value = parseJson(text);
  refuseDeep(value);
  const document = checkedForm(value);
  const tree = treeOf(document);
  if (checksumOf(tree) !== document.sha256) {
    throw invalid({ pointer: "/sha256", message: "Is not the checksum of what the file holds." });
  }
  const problem = inconsistencyOf(tree);
  if (problem !== null) {
    throw invalid(problem);
  }
  return tree;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RepriseError(
      "malformed_json",
      "The file is not JSON, or was cut off; export the session again.",
      { cause: error },
    );
  }
}

/** Levels of objects and lists. What reads an export goes down into it, a call for each level. */
const MAX_LEVELS = 1000;

function refuseDeep(value: unknown): void {
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_LEVELS) {
      throw invalid({ pointer: "", message: `Is nested more than ${MAX_LEVELS} levels deep.` });
    }
    level = level.flatMap(members);
  }
}

/** A value with members; texts and numbers have no level below them. */
function members(value: object): object[] {
  return Object.values(value).filter((one) => typeof one === "object" && one !== null);
}

function checkedForm(value: unknown): SessionExport {
  const format =
    typeof value === "object" && value !== null && "format" in value ? value.format : undefined;
  if (format !== FORMAT) {
    throw new RepriseError(
      "export_invalid",
      `The file is not an export in a format that this version reads (${FORMAT}). Update Reprise if a newer one wrote it.`,
    );
  }
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    ownProperties: true,
    verbose: true,
  });
  ajv.addFormat("storable-text", isStorableText);
  ajv.addSchema(SessionTreeSchema);
  const fits = ajv.compile<SessionExport>(SessionExport);
  if (!fits(value)) {
    throw invalid(...faultsOf(fits.errors ?? [], "field"));
  }
  return value;
}

function treeOf({ session, messages, threads, children }: SessionExport): SessionTree {
  return { session, messages, threads, children };
}

function invalid(...faults: readonly Fault[]): RepriseError {
  return new RepriseError(
    "export_invalid",
    "The export is inconsistent at the listed position, so nothing was imported. Export the session again.",
    { faults },
  );
}
