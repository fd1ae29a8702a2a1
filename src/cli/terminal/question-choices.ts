import { ALLOW_IN_CONFIG, PERMISSION_ANSWERS } from "../../core/permissions.ts";
import { ADMISSION_CHOICES, type QuestionKind } from "../../core/questions.ts";
import { oneLine } from "../../core/terminal-text.ts";
import { visibleBlanks } from "../../core/visible-blanks.ts";
import { LIMIT_CHOICES } from "../../core/token-limits.ts";
import { cutLine } from "./fold.ts";
import { visibleWidth } from "./pi/text.ts";
import type { Theme } from "./theme.ts";

/** One choice of a question, and what a person types for it. */
export interface KeyedChoice {
  readonly text: string;
  /** A letter, or a number of one or more digits. */
  readonly key: string;
  /** True if it allows nothing, or only asks further: it needs no Enter. */
  readonly isSafe: boolean;
}

const { once, exchange, session, each, no } = PERMISSION_ANSWERS;
const [YES, NO] = ADMISSION_CHOICES;
const [CONTINUE, STOP] = LIMIT_CHOICES;

/** For what the program itself asks. What a model offers has numbers only, whatever it is called. */
const LETTERS: Readonly<Record<string, string>> = {
  [once]: "y",
  [exchange]: "e",
  [session]: "s",
  [ALLOW_IN_CONFIG]: "f",
  [each]: "d",
  [no]: "n",
  [YES]: "y",
  [NO]: "n",
  [CONTINUE]: "y",
  [STOP]: "n",
};

/** What allows most comes last before what allows nothing, so that no permission comes after it. */
const ORDER: readonly string[] = [once, exchange, session, ALLOW_IN_CONFIG, each, no];

const SAFE: ReadonlySet<string> = new Set([each, no, NO, STOP]);

/** The choices of a question with their keys: permissions from the least to the most, then no. */
export function keyedChoices(kind: QuestionKind, choices: readonly string[]): KeyedChoice[] {
  const taken = new Set<string>();
  const ordered =
    kind === "permission"
      ? choices.toSorted((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other))
      : choices;
  return ordered.map((text, at) => {
    const letter = kind === "question" ? undefined : LETTERS[text];
    const key = letter === undefined || taken.has(letter) ? String(at + 1) : letter;
    taken.add(key);
    return { text, key, isSafe: kind !== "question" && SAFE.has(text) };
  });
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
