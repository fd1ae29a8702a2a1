import type { FileChangeInfo } from "../../core/file-change-schemas.ts";
import { plural } from "../../core/text.ts";
import { oneLine, visible } from "../../core/terminal-text.ts";
import { cutLine } from "./fold.ts";
import type { Theme } from "./theme.ts";
import type { Layout } from "./tool-rows.ts";

/** Rows below a call for all that it changed; `sessions changes` shows more. */
const MAX_ROWS = 12;
/** Characters of a diff that are read for them. */
const MAX_READ = 64 * 1024;

/** What a call changed: its diff without the names of the file, or the files if there are more. */
export function changeRows(
  changes: readonly FileChangeInfo[],
  { theme, width }: Layout,
  { isDiffShown }: { readonly isDiffShown: boolean },
): string[] {
  const lines = changes.flatMap((change) => [
    ...(changes.length > 1 ? [{ text: fileLine(change), style: theme.bold }] : []),
    ...(isDiffShown ? diffLines(change.diff, theme) : []),
  ]);
  const shown = lines.length > MAX_ROWS ? lines.slice(0, MAX_ROWS - 1) : lines;
  const left = lines.length - shown.length;
  const rows = shown.map(({ text, style }) => `  ${style(cutLine(text, width - 2))}`);
  return left === 0
    ? rows
    : [
        ...rows,
        `  ${theme.dim(cutLine(`… ${plural(left, "more line")}, Ctrl-O shows them`, width - 2))}`,
      ];
}

interface StyledLine {
  readonly text: string;
  readonly style: (text: string) => string;
}

function fileLine({ kind, path, added, removed }: FileChangeInfo): string {
  const counts = added === null || removed === null ? "" : `  +${added} -${removed}`;
  return `${kind} ${oneLine(path)}${counts}`;
}

/** All of it, in clean lines. */
export function changeText(changes: readonly FileChangeInfo[]): string[] {
  return changes.flatMap((change) => [fileLine(change), ...hunksOf(change.diff), ""]);
}

function diffLines(diff: string | null, theme: Theme): StyledLine[] {
  return hunksOf(diff).map((text) => ({ text, style: styleOf(text, theme) }));
}

/** Without the names of the files, which are shown already. */
function hunksOf(diff: string | null): string[] {
  const lines = visible((diff ?? "").slice(0, MAX_READ))
    .trimEnd()
    .split("\n");
  const names = lines[0]?.startsWith("--- ") === true && lines[1]?.startsWith("+++ ") === true;
  return lines.slice(names ? 2 : 0).filter((line) => line !== "");
}

function styleOf(line: string, theme: Theme): (text: string) => string {
  return line.startsWith("+") ? theme.added : line.startsWith("-") ? theme.removed : theme.dim;
}
