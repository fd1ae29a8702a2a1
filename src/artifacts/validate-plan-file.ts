import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import type { Finding } from "./finding.ts";
import { readText } from "./read-text.ts";
import type { SchemaCheck } from "./schema-check.ts";
import { failedReport, validatePlan } from "./validate-plan.ts";
import type { PlanReport } from "./validate-plan.ts";

/**
 * Validates the phase plan in a file. A file whose name ends with .yaml or .yml is read as YAML,
 * every other as strict JSON. One that cannot be read is reported with `file_unreadable`.
 */
export async function validatePlanFile(path: string, schema: SchemaCheck): Promise<PlanReport> {
  const syntax = /\.ya?ml$/i.test(path) ? "yaml" : "json";
  return validatePlanStream(createReadStream(path), { syntax, schema });
}

/** Validates the phase plan that a stream holds, as `validatePlanFile` does. */
export async function validatePlanStream(
  stream: Readable,
  options: { syntax: "json" | "yaml"; schema: SchemaCheck },
): Promise<PlanReport> {
  let text: string | Finding;
  try {
    text = await readText(stream);
  } catch (error) {
    return failedReport(unreadable(error));
  }
  return typeof text === "string" ? validatePlan(text, options) : failedReport(text);
}

const REASONS = new Map<unknown, string>([
  ["ENOENT", "there is no such file; check the path"],
  ["ENOTDIR", "there is no such file; check the path"],
  ["EISDIR", "this is a directory; name a file in it"],
  ["EACCES", "this file may not be read; check its permissions"],
  ["EPERM", "this file may not be read; check its permissions"],
]);

function unreadable(error: unknown): Finding {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return {
    code: "file_unreadable",
    severity: "error",
    pointer: "",
    line: 1,
    column: 1,
    message: REASONS.get(code) ?? "the file could not be read; check the path and the disk",
  };
}
