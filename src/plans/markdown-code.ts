import { endOf } from "../core/text/code-points.ts";
import { oneLine } from "../core/text/terminal-text.ts";

/** Code points of a text that are shown. */
const MAX_SHOWN = 300;

/**
 * Writes a text of a model, a plan or a file as a code span on one line, which fits in the cell of a table. No markup and
 * no link is made of it, and it mentions nobody on a page of pull requests.
 */
export function code(text: string): string {
  // a bar would end a cell, also in a code span
  const line = oneLine(text.slice(0, 2 * MAX_SHOWN + 2)).replaceAll("|", "¦");
  const end = endOf(line, MAX_SHOWN) ?? line.length;
  const cut = end < line.length || text.length > 2 * MAX_SHOWN + 2;
  const shown = `${line.slice(0, end)}${cut ? "…" : ""}`;
  if (shown === "") {
    return "(empty)";
  }
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  const space = shown.startsWith("`") || shown.endsWith("`") ? " " : "";
  return `${fence}${space}${shown}${space}${fence}`;
}
