import {
  type AdmissionChoice,
  type ApprovalChoice,
  type Choice,
  isHarmlessChoice,
  type LimitChoice,
  PERMISSION_CHOICES,
  type PermissionChoice,
  type QuestionKind,
  type RepeatChoice,
} from "../../../core/questions.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { visibleBlanks } from "../../../core/text/visible-blanks.ts";
import { cutLine } from "../text/fold.ts";
import { visibleWidth } from "../pi/text.ts";
import type { Theme } from "../text/theme.ts";

/** Choice of a question, and what a person types for it. */
export interface KeyedChoice {
  readonly id: string;
  readonly text: string;
  /** A letter, or a number of one or more digits. */
  readonly key: string;
  /** True if it allows nothing, or only asks further: it needs no Enter. */
  readonly isSafe: boolean;
}

/** For what the program itself asks. What a model offers has numbers only: its ids are positions. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["allow_once", "y"],
  ["allow_exchange", "e"],
  ["allow_session", "s"],
  ["allow_edits", "a"],
  ["allow_folder", "f"],
  ["allow_each", "d"],
  ["deny", "n"],
  ["yes", "y"],
  ["no", "n"],
  ["continue", "y"],
  ["stop", "n"],
  ["again", "y"],
  ["skip", "n"],
  ["approve", "y"],
  ["refuse", "n"],
] satisfies [
  PermissionChoice | LimitChoice | RepeatChoice | ApprovalChoice | AdmissionChoice,
  string,
][]);

/** The choices of a question with their keys, in the order of core: that of the terminal has its place among them. */
export function keyedChoices(kind: QuestionKind, choices: readonly Choice[]): KeyedChoice[] {
  const ids: readonly string[] = PERMISSION_CHOICES;
  const ordered =
    kind === "permission"
      ? choices.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
      : choices;
  return ordered.map(({ id, label }, at) => ({
    id,
    text: label,
    key: LETTERS.get(id) ?? String(at + 1),
    isSafe: isHarmlessChoice(id),
  }));
}

interface ChoiceLayout {
  readonly theme: Theme;
  readonly width: number;
  /** Rows that there are for them, at least one. */
  readonly max: number;
  /** The index of the marked choice; null if none is. */
  readonly marked: number | null;
}

/** The choices beside each other if all are short enough for that, else one to a row, around the marked one. */
export function choiceRows(choices: readonly KeyedChoice[], layout: ChoiceLayout): string[] {
  const { theme, width, max, marked } = layout;
  const shown = choices.map(({ key, text }, at) => {
    const mark = at === marked ? ">" : " ";
    const label = cutLine(oneLine(visibleBlanks(text)), Math.max(1, width - key.length - 5));
    const plain = `${mark} [${key}] ${label}`;
    const styled = `${mark} ${theme.accent(`[${key}]`)} ${label}`;
    return { columns: visibleWidth(plain), row: at === marked ? theme.selected(plain) : styled };
  });
  const beside = flow(shown, width);
  const isList = choices.some(({ key }) => /^\d/.test(key));
  return !isList && beside.length <= max
    ? beside
    : windowed(
        shown.map(({ row }) => row),
        { max, at: marked ?? 0, theme },
      );
}

function flow(
  items: readonly { readonly row: string; readonly columns: number }[],
  width: number,
): string[] {
  const rows: { row: string; columns: number }[] = [];
  for (const { row, columns } of items) {
    const last = rows.at(-1);
    if (last !== undefined && last.columns + 1 + columns <= width) {
      last.row += ` ${row}`;
      last.columns += 1 + columns;
    } else {
      rows.push({ row, columns });
    }
  }
  return rows.map(({ row }) => row);
}

/** So many rows around one, the last of which says what is left out. */
function windowed(
  rows: readonly string[],
  { max, at, theme }: { readonly max: number; readonly at: number; readonly theme: Theme },
): string[] {
  if (rows.length <= max) {
    return [...rows];
  }
  if (max <= 1) {
    return rows.slice(at, at + 1);
  }
  const size = max - 1;
  const first = Math.min(Math.max(0, at - Math.floor(size / 2)), rows.length - size);
  const range = `${first + 1} to ${first + size} of ${rows.length}`;
  return [...rows.slice(first, first + size), theme.dim(`  choices ${range}, arrow keys move`)];
}
