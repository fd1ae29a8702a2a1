import type { FileReport } from "./findings.ts";

/**
 * Findings as workflow commands of GitHub Actions, which shows them at their lines. Every line is
 * one of ours: none begins with anything that a plan or a file's name says.
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
