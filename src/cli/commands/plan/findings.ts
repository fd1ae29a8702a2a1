import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";

import type { ArtifactReport, Finding } from "../../../artifacts/finding.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";

/** Findings of one file; `phases` if it is a plan. */
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

/**
 * Findings as workflow commands of GitHub Actions, which shows them at their lines. Reprise begins
 * every line: none begins with anything that a plan or a file's name says.
 */
export function githubLines(reports: readonly FileReport[]): string[] {
  const lines = reports.flatMap(({ file, findings }) =>
    findings.map(({ severity, line, column, code, message }) => {
      const at = `file=${property(file)},line=${line},col=${column},title=${property(code)}`;
      return `::${severity} ${at}::${escape(message)}`;
    }),
  );
  const valid = reports.filter((report) => report.valid).length;
  return [...lines, `${valid} of ${reports.length} valid`];
}

function escape(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return escape(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Findings as a SARIF 2.1.0 log of one run, for programs that gather what many tools found. */
export function sarifLog(reports: readonly FileReport[], version: string): object {
  const codes = new Set(reports.flatMap(({ findings }) => findings.map(({ code }) => code)));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "reprise", version, rules: [...codes].map((id) => ({ id })) } },
        columnKind: "utf16CodeUnits",
        results: reports.flatMap(({ file, findings }) =>
          findings.map((finding) => resultOf(file, finding)),
        ),
      },
    ],
  };
}

function resultOf(file: string, finding: Finding): object {
  const { code, severity, message, line, column, pointer } = finding;
  return {
    ruleId: code,
    level: severity,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: column },
        },
        logicalLocations: [{ fullyQualifiedName: pointer }],
      },
    ],
  };
}

function uriOf(file: string): string {
  if (file === "-") {
    return "stdin";
  }
  if (isAbsolute(file)) {
    return pathToFileURL(file).href;
  }
  return file
    .split(/[\\/]/)
    .map((step) => encodeURIComponent(step))
    .join("/");
}
