import type { FindingInfo } from "../../src/entries/client.ts";
import type { Syntax } from "./draft.ts";

/** How a text is written: by the end of its file's name, else JSON if it begins with a brace or bracket. */
export function syntaxOf(text: string, name: string | null): Syntax {
  const ending = /\.(json|ya?ml)$/i.exec(name ?? "")?.[1]?.toLowerCase();
  if (ending !== undefined) {
    return ending === "json" ? "json" : "yaml";
  }
  return /^\uFEFF?\s*[{[]/.test(text) ? "json" : "yaml";
}

type Position = Pick<FindingInfo, "line" | "column">;

/** Where a line and column are in a text; at the end of the line or the text if there is less of it. */
export function offsetOf(text: string, { line, column }: Position): number {
  const [start, end] = lineAt(text, line);
  return Math.min(start + column - 1, end);
}

/** What to select for a finding: from its position to the end of its line, all of it if that is empty. */
export function rangeOf(text: string, position: Position): readonly [number, number] {
  const [start, end] = lineAt(text, position.line);
  const offset = offsetOf(text, position);
  return offset < end ? [offset, end] : [start, end];
}

function lineAt(text: string, line: number): readonly [number, number] {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const next = text.indexOf("\n", start);
    if (next === -1) {
      return [text.length, text.length];
    }
    start = next + 1;
  }
  const end = text.indexOf("\n", start);
  return [start, end === -1 ? text.length : end];
}

export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return lines;
}

/** The text with the suggestion in place of the name at the finding; null if there is none, or no plain name. */
export function withSuggestion(text: string, finding: FindingInfo): string | null {
  const { suggestion } = finding;
  if (suggestion === undefined || !/^[\w./@-]+$/.test(suggestion)) {
    return null;
  }
  const offset = offsetOf(text, finding);
  const name = /^(["']?)[\w./@-]+\1/.exec(text.slice(offset, offset + 500));
  if (name === null) {
    return null;
  }
  const [all, quote = ""] = name;
  return `${text.slice(0, offset)}${quote}${suggestion}${quote}${text.slice(offset + all.length)}`;
}

/** As `2 errors, 1 warning`; `no findings` if there are none. */
export function countsOf(findings: readonly FindingInfo[]): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const counts = [
    [errors, "error"],
    [findings.length - errors, "warning"],
  ] as const;
  const named = counts.filter(([count]) => count > 0);
  return named.length === 0
    ? "no findings"
    : named.map(([count, thing]) => plural(count, thing)).join(", ");
}

/** As `1 phase`, `1,200 phases`. */
export function plural(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}
