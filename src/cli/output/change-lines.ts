import type {
  ExchangeChangesInfo,
  FileChangeInfo,
  UndoInfo,
} from "../../core/schemas/file-change-schemas.ts";
import { plural } from "../../core/text/text.ts";
import { oneLine, visible } from "../../core/text/terminal-text.ts";

/** Lines of a diff under each file. */
const DIFF_LINES_SHOWN = 200;

/** Writes what an exchange changed, each file with its diff. */
export function changeLines(
  changes: readonly FileChangeInfo[],
  {
    max = DIFF_LINES_SHOWN,
    withheld = false,
  }: { readonly max?: number; readonly withheld?: boolean } = {},
): string[] {
  return changes.flatMap((change) => [
    changedFile(change),
    ...(change.diff === null ? [`  ${whyNoDiff(change, withheld)}`] : []),
    ...diffLines(change.diff, max),
  ]);
}

/** Says what happened to a file: `changed src/a.ts +3 -1`. */
export function changedFile({ path, kind, added, removed, undone }: FileChangeInfo): string {
  const counts = added === null || removed === null ? "" : ` +${added} -${removed}`;
  return `${kind} ${oneLine(path)}${counts}${undone ? " (undone)" : ""}`;
}

/** Why a change has no diff. `withheld` is true if that is because the config cannot be read. */
export function whyNoDiff({ reason }: FileChangeInfo, withheld: boolean): string {
  const unknown = withheld
    ? "The diff is left out, because the config cannot be read."
    : "The content is not kept on this machine.";
  return reason === null ? unknown : `Not undone: ${reason}.`;
}

/** Says what was undone or redone, and what was not. */
export function undoLines(
  { files, dry_run: isDry }: UndoInfo,
  word: "undo" | "redo",
  { diffs }: { readonly diffs: boolean },
): string[] {
  if (files.length === 0) {
    return [`Nothing to ${word}: the files are as they were before.`];
  }
  const done = isDry ? `would ${word}` : PAST[word];
  return files.flatMap(({ path, outcome, reason, diff }) => {
    const what = outcome === "restored" ? done : outcome;
    const because = reason === null ? "" : `: ${oneLine(reason)}`;
    const isShown = diffs || outcome === "refused";
    return [
      `${what} ${oneLine(path)}${because}`,
      ...(isShown ? diffLines(diff, DIFF_LINES_SHOWN) : []),
    ];
  });
}

const PAST = { undo: "undone", redo: "redone" } as const;

/** Writes a line for each exchange that changed files. */
export function exchangeLines(exchanges: readonly ExchangeChangesInfo[]): string[] {
  return exchanges.map(({ n, changes, undone }) => {
    const state = undone === 0 ? "" : undone === changes ? " (undone)" : " (partly undone)";
    return `exchange ${n}: ${plural(changes, "change")}${state}`;
  });
}

/** The hunks of a diff, indented: no line of a file can pass for one of the program's. */
function diffLines(diff: string | null, max: number): string[] {
  const lines = diff === null ? [] : visible(diff).trimEnd().split("\n");
  const shown = lines.slice(0, max).map((line) => `  ${line}`);
  return lines.length > max ? [...shown, `  … ${plural(lines.length - max, "more line")}`] : shown;
}
