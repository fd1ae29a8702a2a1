import { Command, Option } from "commander";

import { printJson, printLines, type CliContext } from "../../process/context.ts";
import { createPlanChecker, readArtifact, refuseTwice, type PlanChecker } from "./checks.ts";
import type { FileReport } from "./findings.ts";
import { checksBeside, isChecksFile, reportChecks, unreadChecks } from "./plan-checks.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

const FORMATS = ["text", "json", "github", "sarif"] as const;

interface ValidateOptions {
  readonly spec?: string;
  readonly json?: true;
  readonly format?: (typeof FORMATS)[number];
}

/** The specification that the plans belong to, checked. */
interface SpecReport extends FileReport {
  readonly runId: string | null;
}

/**
 * `plan validate <file...>`: reports every finding of every phase plan. `-` is standard input,
 * JSON or YAML. With `--spec` the plans must be of the same run as that specification. Exit code 0
 * when all are valid (warnings allowed), also the checks beside them, 1 when one is not or cannot be read. `--json` prints
 * `{valid, files: [{file, valid, findings: [{code, severity, pointer, line, column, message, …}]}]}`
 * and with `--spec` also `spec: {file, valid, run_id, findings}`.
 */
export function validateCommand(cli: CliContext): Command {
  return new Command("validate")
    .description("check phase plans: their JSON or YAML, their schema, dependencies and names")
    .argument("<file...>", "files to check; - for standard input")
    .option("--spec <file>", "the specification of the run, whose runId the plans must have")
    .option("--json", "print one JSON document, for programs")
    .addOption(new Option("--format <format>", "the output format").choices([...FORMATS]))
    .action(async (files: string[], options: ValidateOptions) => {
      const format = formatOf(options);
      refuseTwice([...files, options.spec ?? ""]);
      const checker = await createPlanChecker(cli);
      const spec = options.spec === undefined ? null : await checkSpec(cli, checker, options.spec);
      const reports: FileReport[] = [];
      for (const file of files) {
        reports.push(...(await reportsOf(cli, checker, { file, runId: spec?.runId ?? undefined })));
      }
      const once = reports.filter(
        ({ file }, at) =>
          !isChecksFile(file) || reports.findLastIndex((each) => each.file === file) === at,
      );
      const valid = once.every((report) => report.valid) && spec?.valid !== false;
      cli.exitCode = valid ? 0 : 1;
      await print(cli, format, { spec, reports: once });
    });
}

/** The report of a plan, and of the checks beside it; of checks that are named themselves, that alone. */
async function reportsOf(
  cli: CliContext,
  checker: PlanChecker,
  { file, runId }: { readonly file: string; readonly runId: string | undefined },
): Promise<readonly FileReport[]> {
  if (isChecksFile(file)) {
    const { checks: _, ...report } = await reportChecks(cli, checker, { file, keys: null });
    return [report];
  }
  const { plan, ...report } = await checker.check(file, { runId });
  const unread = await unreadChecks(cli, file);
  const beside = await checksBeside(cli, file);
  if (beside === null) {
    return [{ file, ...report }, ...unread];
  }
  const keys = plan?.phases.map(({ key }) => key) ?? null;
  const { checks: _, ...ofChecks } = await reportChecks(cli, checker, { file: beside, keys });
  return [{ file, ...report }, ofChecks, ...unread];
}

function formatOf({ json, format }: ValidateOptions): (typeof FORMATS)[number] {
  if (json === true && format !== undefined && format !== "json") {
    throw wrongUsage("--json and --format name different formats; give one of them.");
  }
  return json === true ? "json" : (format ?? "text");
}

async function checkSpec(
  cli: CliContext,
  { registry }: PlanChecker,
  file: string,
): Promise<SpecReport> {
  const [{ checkArtifact }, { SPECIFICATION: id }, { toReport }] = await Promise.all([
    import("../../../artifacts/check-artifact.ts"),
    import("../../../artifacts/registry.ts"),
    import("../../../artifacts/finding.ts"),
  ]);
  const artifact = await readArtifact(cli, file);
  if ("code" in artifact) {
    return { file, runId: null, ...toReport([artifact]) };
  }
  return { file, ...(await checkArtifact(artifact, { id, schema: await registry.schema(id) })) };
}

async function print(
  cli: CliContext,
  format: (typeof FORMATS)[number],
  { spec, reports }: { readonly spec: SpecReport | null; readonly reports: readonly FileReport[] },
): Promise<void> {
  const all = spec === null ? reports : [spec, ...reports];
  const { findingLines, githubLines, sarifLog } = await import("./findings.ts");
  switch (format) {
    case "json":
      printJson(cli, documentOf(spec, reports), 2);
      break;
    case "sarif":
      printJson(cli, sarifLog(all, cli.version), 2);
      break;
    case "github":
      printLines(cli, githubLines(all));
      break;
    case "text":
      printLines(cli, all.flatMap(findingLines));
      break;
  }
}

function documentOf(spec: SpecReport | null, reports: readonly FileReport[]): object {
  const valid = reports.every((report) => report.valid) && spec?.valid !== false;
  const files = reports.map(({ file, valid, findings }) => ({ file, valid, findings }));
  if (spec === null) {
    return { valid, files };
  }
  const { file, valid: good, runId: run_id, findings } = spec;
  return { valid, spec: { file, valid: good, run_id, findings }, files };
}
