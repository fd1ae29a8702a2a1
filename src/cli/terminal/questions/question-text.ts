import { plural } from "../../../core/text/text.ts";
import { oneLine, visible } from "../../../core/text/terminal-text.ts";
import {
  beginsWithBlanks,
  MAX_INDENTATION,
  visibleBlanks,
} from "../../../core/text/visible-blanks.ts";
import { longerText } from "../../../core/text/longer-text.ts";
import type { GivenAnswer } from "../../output/question-lines.ts";
import type { OpenQuestion } from "../../../store/records/questions/read.ts";
import { cutLine, foldLine } from "../text/fold.ts";
import type { Theme } from "../text/theme.ts";

/** Rows that the scrollback gets of one question; of more the head and the tail. */
const MAX_ROWS = 200;
const HEAD_ROWS = 140;
const TAIL_ROWS = 50;

/** Before each row of foreign text, so that none can pass for a choice or for a line of the program. */
const BAR = "| ";
/** Before the further rows of a line that is too long. */
const FOLDED = "|…";

/** Parts of a question that are shown, besides its place among others. */
export type ShownQuestion = Pick<OpenQuestion, "text" | "choices" | "permission" | "kind" | "path">;

export interface TextPlace {
  readonly theme: Theme;
  readonly width: number;
}

/** A question with a text that hides nothing, for the functions below. */
export function shownQuestion<Question extends ShownQuestion>(question: Question): Question {
  return { ...question, text: visibleBlanks(visible(question.text), MAX_INDENTATION) };
}

/**
 * All that is asked: text, rules of longer answers, meanings of choices, and the choices that a model wrote. Rows of at
 * most `width` columns.
 */
export function questionRows(
  { text, choices, kind }: ShownQuestion,
  { theme, width }: TextPlace,
): string[] {
  const styleOf = lineStyles(theme, kind);
  const inner = width - BAR.length;
  const rows = text
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const style = styleOf(line);
      return foldLine(line, inner).map(
        (row, at) => theme.dim(at === 0 ? BAR : FOLDED) + style(row),
      );
    });
  return [...rows, ...choiceTexts({ kind, choices }, width)];
}

/** Rules of a permission that lasts, meanings of other choices of the program, or what a model offers. */
function choiceTexts(
  { kind, choices }: Pick<ShownQuestion, "kind" | "choices">,
  width: number,
): string[] {
  switch (kind) {
    case "permission": {
      const longer = longerText(choices);
      return longer === null ? [] : labelled("", longer, width);
    }
    case "question":
      return (choices ?? []).flatMap(({ label }, at) => labelled(`${at + 1}. `, label, width));
    default:
      return (choices ?? []).flatMap(({ label, meaning }) =>
        labelled("", `${label}: ${meaning ?? ""}`, width),
      );
  }
}

/** The rows for the scrollback, and whether they are all. */
export function committedRows(
  rows: readonly string[],
  theme: Theme,
): { readonly rows: readonly string[]; readonly isAll: boolean } {
  if (rows.length <= MAX_ROWS) {
    return { rows, isAll: true };
  }
  const left = rows.length - HEAD_ROWS - TAIL_ROWS;
  const gap = theme.warning(`  … ${plural(left, "more row")}: Ctrl-O opens all of it`);
  return { rows: [...rows.slice(0, HEAD_ROWS), gap, ...rows.slice(-TAIL_ROWS)], isAll: false };
}

/** Rows of an answer that the scrollback gets. */
const MAX_ANSWER_ROWS = 20;

/** Draws what the person answered, as a message is shown. */
export function answerRows({ text, note }: GivenAnswer, { theme, width }: TextPlace): string[] {
  const said = visible(note === null ? text : `${text}: ${note}`);
  const rows = said.split("\n").flatMap((line) => foldLine(line, width - 2));
  const left = rows.length - MAX_ANSWER_ROWS;
  return [
    ...rows
      .slice(0, MAX_ANSWER_ROWS)
      .map((row, at) => `${at === 0 ? theme.accent(">") : " "} ${row}`),
    ...(left > 0 ? [theme.dim(`  … ${plural(left, "more row")}`)] : []),
  ];
}

/** A line after a label, as `max` rows at most, with a bar before those after the first. */
export function labelled(label: string, text: string, width: number, max = Infinity): string[] {
  const inner = width - BAR.length;
  const line = `${label}${oneLine(visibleBlanks(text))}`;
  const rows = foldLine(line, inner);
  const left = rows.slice(max - 1).join("");
  const shown = rows.length > max ? [...rows.slice(0, max - 1), cutLine(left, inner)] : rows;
  return shown.map((row, at) => (at === 0 ? "  " : FOLDED) + row);
}

/** The beginning of a line of a diff. */
const IN_HUNK = /^[-+ @\\]/;

/** Added and removed lines of the diffs in a question about files. */
function lineStyles(theme: Theme, kind: ShownQuestion["kind"]): (line: string) => Theme["added"] {
  let isInHunk = false;
  const plain = (row: string): string => row;
  return (line) => {
    isInHunk =
      kind === "permission" &&
      (isInHunk ? IN_HUNK.test(line) || beginsWithBlanks(line) : line.startsWith("@@"));
    if (!isInHunk) {
      return plain;
    }
    return line.startsWith("+") ? theme.added : line.startsWith("-") ? theme.removed : plain;
  };
}
