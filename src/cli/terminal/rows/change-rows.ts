import type { FileChangeInfo } from "../../../core/schemas/file-change-schemas.ts";
import { plural } from "../../../core/text/text.ts";
import { oneLine, visible } from "../../../core/text/terminal-text.ts";
import { whyNoDiff } from "../../output/change-lines.ts";
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

/** Sums up what an exchange changed, and says how to see it and to take it back: `2 files +5 -1 · /undo · /diff`. */
export function changedSummary(changes: readonly FileChangeInfo[]): string {
  const files = new Set(changes.map(({ path }) => path)).size;
  const sum = (of: "added" | "removed"): number =>
    changes.reduce((total, change) => total + (change[of] ?? 0), 0);
  return `${plural(files, "file")} +${sum("added")} -${sum("removed")} · /undo · /diff`;
}

/** All of it for a pager: each file with its diff, or why it has none. */
export function diffPages(changes: readonly FileChangeInfo[], layout: Layout): string[] {
  return changes.flatMap((change, at) => [
    ...(at === 0 ? [] : [""]),
    layout.theme.bold(cutLine(fileLine(change), layout.width)),
    ...(change.diff === null
      ? [layout.theme.dim(cutLine(whyNoDiff(change, false), layout.width))]
      : diffRows(change.diff, layout)),
  ]);
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
