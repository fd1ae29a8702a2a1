import type { FindingCode } from "../core/schemas/artifact-schemas.ts";
import type { LineIndex } from "./line-index.ts";

/**
 * Finding about an artifact file.
 *
 * `pointer` is a JSON pointer (RFC 6901) to the value or property meant. `line` and `column`
 * count from 1, columns in UTF-16 code units as editors do. `message` is one sentence in which
 * names from the file are quoted and free of control characters.
 */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: "error" | "warning";
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The nearest name that would have been right. */
  readonly suggestion?: string;
  /** The line of the first definition, for `duplicate_key` and `duplicate_property`. */
  readonly first_line?: number;
  /** For `circular_dependency`: phase keys, each depends on the next; first and last are equal. */
  readonly path?: readonly string[];
}

/** A finding whose position is still an offset in the text. */
export type OffsetFinding = Omit<Finding, "line" | "column"> & { readonly offset: number };

export function positioned(finding: OffsetFinding, lines: LineIndex): Finding {
  const { code, severity, pointer, offset, ...rest } = finding;
  return { code, severity, pointer, ...lines(offset), ...rest };
}

/** An error of the text as a whole: at its beginning, if no position is given. */
export function textError(
  code: FindingCode,
  message: string,
  { line, column }: Pick<Finding, "line" | "column"> = { line: 1, column: 1 },
): Finding {
  return { code, severity: "error", pointer: "", line, column, message };
}

/** Result of validating one artifact. */
export interface ArtifactReport {
  /** Whether no finding is an error. */
  readonly valid: boolean;
  /** All findings, in the order of their places in the text. */
  readonly findings: readonly Finding[];
}

/** Findings of one artifact, at most; `too_many_findings` then says that there are more. */
export const MAX_FINDINGS = 10_000;

/** Characters of pointers, sentences and paths together, at most: memory for what is printed. */
const MAX_CHARACTERS = 8_000_000;

/**
 * Orders findings by their places. If there are too many, errors are kept before warnings.
 */
export function toReport(unordered: readonly Finding[]): ArtifactReport {
  const ordered = unordered.toSorted(byPosition);
  const valid = ordered.every(({ severity }) => severity !== "error");
  return { valid, findings: atMost(ordered) };
}

function byPosition(a: Finding, b: Finding): number {
  return (
    a.line - b.line ||
    a.column - b.column ||
    compare(a.pointer, b.pointer) ||
    compare(a.code, b.code) ||
    compare(a.message, b.message)
  );
}

function compare(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}

function atMost(ordered: readonly Finding[]): readonly Finding[] {
  const byWeight = ordered.toSorted((a, b) => compare(a.severity, b.severity));
  const count = listable(byWeight);
  if (count === ordered.length) {
    return ordered;
  }
  const kept = byWeight.slice(0, count).sort(byPosition);
  const { severity = "error", line = 1, column = 1 } = kept.at(-1) ?? byWeight[0] ?? {};
  const message = `only ${count.toLocaleString("en")} findings are listed, errors first; fix these and validate again`;
  return [...kept, { code: "too_many_findings", severity, pointer: "", line, column, message }];
}

/** How many findings can be listed: one very long name may be in the pointers of all of them. */
function listable(findings: readonly Finding[]): number {
  let left = MAX_CHARACTERS;
  const end = findings.slice(0, MAX_FINDINGS).findIndex(({ pointer, message, path = [] }) => {
    left -= path.reduce((sum, key) => sum + key.length, pointer.length + message.length);
    return left < 0;
  });
  return end === -1 ? Math.min(findings.length, MAX_FINDINGS) : Math.max(1, end);
}
