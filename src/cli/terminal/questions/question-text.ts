import { plural } from "../../../core/text/text.ts";
import { oneLine, visible } from "../../../core/text/terminal-text.ts";
import { MAX_INDENTATION, visibleBlanks } from "../../../core/text/visible-blanks.ts";
import { longerText } from "../../../core/text/longer-text.ts";
import { type GivenAnswer, pageLine } from "../../output/question-lines.ts";
import type { OpenQuestion } from "../../../store/records/questions/read.ts";
import { cutLine, foldLine } from "../text/fold.ts";
import { visibleWidth } from "../pi/text.ts";
import { type DiffLine, styleOf } from "../rows/diff-rows.ts";
import type { Theme } from "../text/theme.ts";
import { partsOf, type QuestionParts } from "./question-parts.ts";

/** Rows that the scrollback gets of one question; of more the head and the tail. */
const MAX_ROWS = 200;
const HEAD_ROWS = 140;
const TAIL_ROWS = 50;

/** Before each row of foreign text, so that none can pass for a choice or for a line of the program. */
const BAR = "| ";
/** Before the further rows of a line that is too long. */
const FOLDED = "|…";
/** Before the first line of a question. */
const HEAD = "── ";
/** Narrower rows have no numbers of lines. */
const NUMBERED_WIDTH = 40;

/** Parts of a question that are shown, besides its place among others. */
export type ShownQuestion = Pick<OpenQuestion, "text" | "choices" | "permission" | "kind" | "path">;

export interface TextPlace {
  readonly theme: Theme;
  readonly width: number;
}

/**
 * Returns what a person decides about, then the rules of longer answers, meanings of choices, and the choices that a model wrote.
 * Rows of at most `width` columns.
 */
export function questionRows(question: ShownQuestion, place: TextPlace): string[] {
  const parts = partsOf(question);
  const { diff, body, about } = parts;
  return [
    ...headRows(parts, question.kind, place),
    ...(diff === null ? body.flatMap((line) => barred(line, place)) : changeRows(diff, place)),
    ...about.flatMap((line) => labelled("", line, place.width)),
    ...choiceTexts(question, place.width),
  ];
}

/** All of the text as it was asked, for the pager. */
export function wholeRows(question: ShownQuestion, place: TextPlace): string[] {
  const text = visibleBlanks(visible(question.text), MAX_INDENTATION).trimEnd();
  return [
    ...text.split("\n").flatMap((line) => barred(line, place)),
    ...choiceTexts(question, place.width),
  ];
}

/** The first line in a rule, with how many lines change. A longer one continues as foreign text. */
function headRows(
  { title, diff }: QuestionParts,
  kind: ShownQuestion["kind"],
  { theme, width }: TextPlace,
): string[] {
  const text = visibleBlanks(kind === "question" ? `The agent asks: ${title}` : title);
  const [first = "", ...rest] = foldLine(text, width - HEAD.length);
  const count = (sign: string): number => diff?.filter((line) => line.sign === sign).length ?? 0;
  const counts = diff === null ? "" : `  +${count("+")} -${count("-")}`;
  const end =
    rest.length === 0 && visibleWidth(first + counts) <= width - HEAD.length ? counts : "";
  const left = rest.length === 0 ? width - HEAD.length - visibleWidth(first + end) - 1 : 0;
  const style = kind === "permission" ? theme.bold : (line: string) => line;
  return [
    `${theme.dim(HEAD)}${style(first)}${end}${left > 0 ? theme.dim(` ${"─".repeat(left)}`) : ""}`,
    ...rest.map((row) => theme.dim(FOLDED) + style(row)),
  ];
}

function barred(line: string, { theme, width }: TextPlace): string[] {
  return foldLine(line, width - BAR.length).map(
    (row, at) => theme.dim(at === 0 ? BAR : FOLDED) + row,
  );
}

/** Draws a change with the numbers of its lines, as far as there is space for them. */
function changeRows(lines: readonly DiffLine[], { theme, width }: TextPlace): string[] {
  const digits = lines.reduce((most, { number }) => Math.max(most, String(number ?? "").length), 0);
  const gutter = width < NUMBERED_WIDTH ? 0 : digits + 1;
  return lines.flatMap((line) => {
    const number = gutter === 0 ? "" : `${String(line.number ?? "").padStart(digits)} `;
    const sign = line.sign === null ? "" : `${line.sign} `;
    const style = styleOf(line, theme) ?? ((text: string): string => text);
    return foldLine(line.text, width - BAR.length - gutter - sign.length).map((row, at) =>
      at === 0
        ? `${theme.dim(BAR + number)}${style(`${sign}${row}`)}`
        : `${theme.dim(FOLDED)}${" ".repeat(gutter + sign.length)}${style(row)}`,
    );
  });
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

/** Names the page that the question can be answered in. */
export function pageRows(address: string, { theme, width }: TextPlace): string[] {
  return foldLine(pageLine(address), width).map(theme.dim);
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
