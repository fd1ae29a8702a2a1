import type { ArtifactReport, Finding } from "../../artifacts/finding.ts";
import { oneLine } from "../../core/terminal-text.ts";
import { plural } from "../../core/text.ts";

/** What was found in one file; `phases` if it is a plan. */
export interface FileReport extends ArtifactReport {
  readonly file: string;
  readonly phases?: number;
}

/** A line for each finding, as compilers write them, and a last one that sums up. */
export function findingLines(report: FileReport): string[] {
  const file = oneLine(report.file);
  return [
    ...report.findings.map((finding) => `${file}:${findingLine(finding)}`),
    `${file}: ${summary(report)}`,
  ];
}

export function findingLine({ line, column, severity, message, code }: Finding): string {
  return `${line}:${column} ${severity} ${message} [${code}]`;
}

function summary({ valid, phases, findings }: FileReport): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  // this finding replaces those that were cut off
  if (findings.at(-1)?.code === "too_many_findings") {
    return `${valid ? "valid, " : ""}${findings.length - 1} findings and more`;
  }
  const parts = valid ? ["valid"] : [plural(errors, "error")];
  if (valid && phases !== undefined) {
    parts.push(plural(phases, "phase"));
  }
  if (warnings > 0) {
    parts.push(plural(warnings, "warning"));
  }
  return parts.join(", ");
}
