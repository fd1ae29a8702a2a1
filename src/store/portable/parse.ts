import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Static, TSchema } from "typebox";

import { type Fault, RepriseError } from "../../core/errors.ts";
import { faultsOf } from "../../core/schemas/schema-errors.ts";
import { isStorableText } from "../../core/text/text.ts";
import { currentTree } from "./current-tree.ts";
import { checksumOf, threadChecksumOf } from "./export-text.ts";
import { FORMAT, SessionExport, type SessionTree, SessionTreeSchema } from "./export-schema.ts";
import { type FreeThread, THREAD_FORMAT, ThreadExport } from "./portable-threads.ts";
import { inconsistencyOf, threadInconsistencyOf } from "./consistency.ts";

/**
 * Reads an export that anybody may have written or cut off: form, checksum, and what must hold in
 * every session. What comes back can be stored.
 *
 * Error codes: `malformed_json`; `export_invalid` with a JSON pointer to the first error.
 */
export function parseExport(text: string): SessionTree {
  const document = readDocument(text, { format: FORMAT, schema: SessionExport });
  const { session, messages, threads, children } = document;
  const written = { session, messages, threads, children };
  const tree = currentTree(written);
  refuseProblem(checksumProblem(document, checksumOf(written)) ?? inconsistencyOf(tree));
  return tree;
}

/** Checks a tree that was read from a database as one of an export. Error codes: `export_invalid`. */
export function checkTree(tree: SessionTree): void {
  refuseDeep(tree);
  const fits = checkOf(SessionTreeSchema);
  if (!fits(tree)) {
    throw invalid(...faultsOf(fits.errors ?? [], "field"));
  }
  refuseProblem(inconsistencyOf(tree));
}

/** Parses the export of a thread without a session. */
export function parseThreadExport(text: string): FreeThread {
  const form = { format: THREAD_FORMAT, schema: ThreadExport };
  const document = readDocument(text, form);
  const { format: _f, exported_at: _e, sha256: _s, ...thread } = document;
  refuseProblem(
    checksumProblem(document, threadChecksumOf(thread)) ?? threadInconsistencyOf(thread),
  );
  return thread;
}

interface Form<Schema> {
  readonly format: string;
  readonly schema: Schema;
}

function readDocument<Schema extends TSchema>(text: string, form: Form<Schema>): Static<Schema> {
  const value = parseJson(text);
  refuseDeep(value);
  return checkedForm(value, form);
}

function checksumProblem({ sha256 }: { readonly sha256: string }, computed: string): Fault | null {
  return computed === sha256
    ? null
    : { pointer: "/sha256", message: "Is not the checksum of what the file holds." };
}

function refuseProblem(problem: Fault | null): void {
  if (problem !== null) {
    throw invalid(problem);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RepriseError(
      "malformed_json",
      "The file is not JSON, or was cut off; export it again.",
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

function checkedForm<Schema extends TSchema>(value: unknown, form: Form<Schema>): Static<Schema> {
  const format =
    typeof value === "object" && value !== null && "format" in value ? value.format : undefined;
  if (format !== form.format) {
    throw new RepriseError(
      "export_invalid",
      `The file is not an export in a format that this command reads (${form.format}). Update Reprise if a newer one wrote it.`,
    );
  }
  const fits = checkOf(form.schema);
  if (!fits(value)) {
    throw invalid(...faultsOf(fits.errors ?? [], "field"));
  }
  return value;
}

/** Compiled once: that takes longer than to read most exports. */
const checks = new WeakMap<TSchema, ValidateFunction>();

function checkOf<Schema extends TSchema>(schema: Schema): ValidateFunction<Static<Schema>> {
  const known = checks.get(schema);
  if (known !== undefined) {
    return known as ValidateFunction<Static<Schema>>;
  }
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    ownProperties: true,
    verbose: true,
  });
  ajv.addFormat("storable-text", isStorableText);
  ajv.addSchema(SessionTreeSchema);
  const check = ajv.compile<Static<Schema>>(schema);
  checks.set(schema, check);
  return check;
}

function invalid(...faults: readonly Fault[]): RepriseError {
  return new RepriseError(
    "export_invalid",
    "The export is inconsistent at the listed position, so nothing was imported. Export it again.",
    { faults },
  );
}
