import type { FileChangeInfo } from "../../../core/schemas/file-change-schemas.ts";
import { plural } from "../../../core/text/text.ts";
import { oneLine, visible } from "../../../core/text/terminal-text.ts";
import { diffRows } from "./diff-rows.ts";
import { cutLine } from "../text/fold.ts";
import { indented, type Layout } from "./tool-rows.ts";

/** Rows below a call for all that it changed; `sessions changes` shows more. */
const MAX_ROWS = 12;
/** Characters of a diff that are read for them. */
const MAX_READ = 64 * 1024;

/** Draws what a call changed: its diff, with the names of the files if there are several. */
export function changeRows(
  changes: readonly FileChangeInfo[],
  { theme, width }: Layout,
  { isDiffShown }: { readonly isDiffShown: boolean },
): string[] {
  const layout = { theme, width: Math.max(1, width - 2) };
  const rows = changes.flatMap((change) => [
    ...(changes.length > 1 ? [theme.bold(cutLine(fileLine(change), layout.width))] : []),
    ...(isDiffShown && change.diff !== null
      ? diffRows(change.diff.slice(0, MAX_READ), layout)
      : []),
  ]);
  const shown = rows.length > MAX_ROWS ? rows.slice(0, MAX_ROWS - 1) : rows;
  const left = rows.length - shown.length;
  const more = cutLine(`… ${plural(left, "more row")}, Ctrl-O shows them`, layout.width);
  return indented(left === 0 ? shown : [...shown, theme.dim(more)], (row) => row);
}

/** All of it, in clean lines. */
export function changeText(changes: readonly FileChangeInfo[]): string[] {
  return changes.flatMap((change) => [
    fileLine(change),
    ...visible(change.diff ?? "")
      .trimEnd()
      .split("\n"),
    "",
  ]);
}

function fileLine({ kind, path, added, removed }: FileChangeInfo): string {
  const counts = added === null || removed === null ? "" : `  +${added} -${removed}`;
  return `${kind} ${oneLine(path)}${counts}`;
}
