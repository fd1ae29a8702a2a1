/** A finding, as far as a model gets it. */
export interface ShownFinding {
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly code: string;
}

/** Findings that a model gets, and characters of each. */
const MAX_FINDINGS = 50;
const MAX_FINDING = 500;

/** Returns a line for each finding with its place, errors first. */
export function findingLines(findings: readonly ShownFinding[]): string[] {
  const left = findings.length - MAX_FINDINGS;
  return [
    ...findings
      .toSorted((a, b) => (a.severity < b.severity ? -1 : Number(a.severity > b.severity)))
      .slice(0, MAX_FINDINGS)
      .map(({ line, column, severity, message, code }) =>
        cutText(`${line}:${column} ${severity} ${message} [${code}]`, MAX_FINDING),
      ),
    ...(left > 0 ? [`(and ${left} more)`] : []),
  ];
}

/** Cuts a text that is longer than `max`. */
export function cutText(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
