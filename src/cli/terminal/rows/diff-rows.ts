import { visible } from "../../../core/text/terminal-text.ts";
import { drawRow, wrapRuns } from "../markdown/runs.ts";
import type { Theme } from "../text/theme.ts";

/** A line of a diff, or one between its parts. */
export interface DiffLine {
  readonly sign: "+" | "-" | " " | null;
  /** In the file after the change, of removed lines before it; null for what is not a line of the file. */
  readonly number: number | null;
  readonly text: string;
}

/** Narrower rows have no line numbers. */
const MIN_WIDTH = 40;

/**
 * A unified diff of one file as rows of at most `width` columns: line numbers, signs and styles for what was added
 * and removed, and `⋮` for what was left out between. The names of the file are left out, too. The diff is cleaned
 * here.
 */
export function diffRows(
  diff: string,
  { theme, width }: { readonly theme: Theme; readonly width: number },
): string[] {
  const lines = parseDiff(visible(diff).trimEnd().split("\n"));
  const digits = lines.reduce((most, { number }) => Math.max(most, String(number ?? "").length), 0);
  const gutter = width < MIN_WIDTH ? 0 : digits + 1;
  return lines.flatMap((line) => {
    const start = gutter === 0 ? "" : `${String(line.number ?? "").padStart(digits)} `;
    const signs = line.sign === null ? "" : `${line.sign} `;
    const style = styleOf(line, theme);
    const run = { text: line.text.replaceAll("\t", "    "), style };
    return wrapRuns([run], Math.max(1, width - gutter - signs.length)).map((row, at) =>
      at === 0
        ? `${theme.dim(start)}${style === null ? signs : style(signs)}${drawRow(row)}`.trimEnd()
        : `${" ".repeat(gutter + signs.length)}${drawRow(row)}`,
    );
  });
}

/** The style of a line of a diff; null for one of the file that stays. */
export function styleOf(
  { sign }: Pick<DiffLine, "sign">,
  theme: Theme,
): ((text: string) => string) | null {
  return sign === "+"
    ? theme.added
    : sign === "-"
      ? theme.removed
      : sign === null
        ? theme.dim
        : null;
}

const SIGNS = ["+", "-", " "] as const;

/** The lines of a clean diff. The counts of each part decide what its lines are: a removed line `-- a` does not name a file. */
export function parseDiff(lines: readonly string[]): DiffLine[] {
  const found: DiffLine[] = [];
  let [before, after, oldLeft, newLeft] = [0, 0, 0, 0];
  for (const line of lines) {
    const sign = SIGNS.find((each) => line.startsWith(each)) ?? null;
    if (sign !== null && oldLeft + newLeft > 0) {
      const text = line.slice(1);
      found.push({ sign, number: sign === "-" ? before : after, text });
      [before, oldLeft] = sign === "+" ? [before, oldLeft] : [before + 1, oldLeft - 1];
      [after, newLeft] = sign === "-" ? [after, newLeft] : [after + 1, newLeft - 1];
      continue;
    }
    const part = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (part !== null) {
      const [, from, removed = 1, to, added = 1] = part;
      [before, oldLeft] = [Number(from), Number(removed)];
      [after, newLeft] = [Number(to), Number(added)];
      if (found.length > 0) {
        found.push({ sign: null, number: null, text: "⋮" });
      }
    } else if (line !== "" && (found.length > 0 || !/^(?:---|\+\+\+) /.test(line))) {
      found.push({ sign: null, number: null, text: line });
    }
  }
  return found;
}
