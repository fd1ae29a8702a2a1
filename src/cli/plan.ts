import { resolve } from "node:path";
import { Command } from "commander";
import type { Finding } from "../artifacts/finding.ts";
import type { SchemaCheck } from "../artifacts/schema-check.ts";
import type { PlanReport } from "../artifacts/validate-plan.ts";
import { RepriseError } from "../core/errors.ts";
import { printLine } from "./context.ts";
import type { CliContext } from "./context.ts";

interface FileReport extends PlanReport {
  readonly file: string;
}

/**
 * `plan validate <file...>`: reports every finding of every phase plan. `-` is standard input,
 * read as JSON. Exit code 0 when all are valid (warnings allowed), 1 when one is not or cannot
 * be read. `--json` prints one document:
 * `{valid, files: [{file, valid, findings: [{code, severity, pointer, line, column, message, …}]}]}`.
 */
export function planCommand(cli: CliContext): Command {
  const plan = new Command("plan").description("work with phase plans (dev/phase-plan@1)");
  plan
    .command("validate")
    .description("check phase plans: their JSON or YAML, their schema and their dependencies")
    .argument("<file...>", "files to check; - for JSON on standard input")
    .option("--json", "print one JSON document, for programs")
    .action(async (files: string[], options: { json?: true }) => {
      const reports = await validateFiles(cli, files);
      if (!reports.every(({ valid }) => valid)) cli.exitCode = 1;
      if (options.json === true) printLine(cli, toJson(reports));
      else await printReports(cli, reports);
    });
  return plan;
}

async function validateFiles(cli: CliContext, files: readonly string[]): Promise<FileReport[]> {
  if (files.filter((file) => file === "-").length > 1) {
    const message = "Standard input can be read only once; name - only once.";
    throw new RepriseError("invalid_usage", message);
  }
  const schema = await loadSchema();
  const { validatePlanFile, validatePlanStream } =
    await import("../artifacts/validate-plan-file.ts");
  const reports: FileReport[] = [];
  for (const file of files) {
    const report =
      file === "-"
        ? await validatePlanStream(cli.stdin, { syntax: "json", schema })
        : await validatePlanFile(resolve(cli.cwd, file), schema);
    reports.push({ file, ...report });
  }
  return reports;
}

// Loaded only when a plan is validated: the validator and the YAML reader slow a start down.
async function loadSchema(): Promise<SchemaCheck> {
  const { builtInSchemas, createSchemaRegistry, PHASE_PLAN } =
    await import("../artifacts/registry.ts");
  const { compileSchema } = await import("../artifacts/schema-check.ts");
  const text = await createSchemaRegistry(builtInSchemas()).read(PHASE_PLAN);
  return compileSchema(text.toString("utf8"));
}

function toJson(reports: readonly FileReport[]): string {
  const valid = reports.every((report) => report.valid);
  const files = reports.map(({ file, valid, findings }) => ({ file, valid, findings }));
  return JSON.stringify({ valid, files }, null, 2);
}

async function printReports(cli: CliContext, reports: readonly FileReport[]): Promise<void> {
  const { printable } = await import("../artifacts/quote.ts");
  for (const report of reports) {
    const file = printable(report.file);
    for (const finding of report.findings) printLine(cli, `${file}:${findingLine(finding)}`);
    printLine(cli, `${file}: ${summary(report)}`);
  }
}

function findingLine({ line, column, severity, message, code }: Finding): string {
  return `${line}:${column} ${severity} ${message} [${code}]`;
}

function summary({ valid, phases, findings }: PlanReport): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  // The finding that says so stands for all that were cut off.
  if (findings.at(-1)?.code === "too_many_findings")
    return `${findings.length - 1} findings and more`;
  const parts = valid ? ["valid", count(phases, "phase")] : [count(errors, "error")];
  if (warnings > 0) parts.push(count(warnings, "warning"));
  return parts.join(", ");
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}
