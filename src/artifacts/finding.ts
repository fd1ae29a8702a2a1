/** What a finding is about, as one closed set; programs compare the code, never the message. */
export type FindingCode =
  // the file as a whole (always at line 1, column 1, except `not_utf8`)
  | "file_unreadable"
  | "file_too_large"
  | "not_utf8"
  // the text
  | "malformed_json"
  | "malformed_yaml"
  | "too_deep"
  | "too_many_values"
  | "duplicate_property"
  // the schema
  | "missing_property"
  | "unknown_property"
  | "wrong_type"
  | "too_short"
  | "pattern_mismatch"
  | "format_mismatch"
  | "below_minimum"
  | "schema_mismatch"
  // the plan
  | "duplicate_key"
  | "unknown_dependency"
  | "self_dependency"
  | "circular_dependency"
  | "more_cycles"
  | "too_many_findings";

/**
 * One thing to say about an artifact file.
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
  /** Where the first definition stands, for `duplicate_key` and `duplicate_property`. */
  readonly first_line?: number;
  /** For `circular_dependency`: phase keys, each depends on the next; first and last are equal. */
  readonly path?: readonly string[];
}

/** Orders findings by their place in the text; those of one place by pointer, then by code. */
export function byPlace(a: Finding, b: Finding): number {
  return (
    a.line - b.line ||
    a.column - b.column ||
    compare(a.pointer, b.pointer) ||
    compare(a.code, b.code)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
