import { plural } from "../../core/text.ts";
import { oneLine, visible } from "../../core/terminal-text.ts";
import { MAX_INDENTATION, visibleBlanks } from "../../core/visible-blanks.ts";
import { ruleOfEffect, ruleText } from "../../exchange/permissions/rule.ts";
import { BUILT_IN_TOOLS } from "../../exchange/tools/built-in.ts";
import type { GivenAnswer } from "../question-lines.ts";
import type { OpenQuestion } from "../../store/questions/read.ts";
import { cutLine, foldLine } from "./fold.ts";
import type { Theme } from "./theme.ts";

/** Rows that the scrollback gets of one question; of more the head and the tail. */
const MAX_ROWS = 200;
const HEAD_ROWS = 140;
const TAIL_ROWS = 50;

/** Before each row of foreign text, so that none can pass for a choice or for a line of the program. */
const BAR = "| ";
/** Before the further rows of a line that is too long. */
const FOLDED = "|…";

/** What is shown of a question, besides its place among others. */
export type ShownQuestion = Pick<OpenQuestion, "text" | "choices" | "effect" | "kind" | "path">;

export interface TextPlace {
  readonly theme: Theme;
  readonly width: number;
}

/** A question with a text that hides nothing, for the functions below. */
export function shownQuestion<Question extends ShownQuestion>(question: Question): Question {
  return { ...question, text: visibleBlanks(visible(question.text), MAX_INDENTATION) };
}

/** All that is asked: text, effect, and the choices that a model wrote. Rows of at most `width` columns. */
export function questionRows(
  { text, choices, effect, kind }: ShownQuestion,
  { theme, width }: TextPlace,
): string[] {
  const styleOf = lineStyles(theme, kind);
  const inner = width - BAR.length;
  const { what, why } = sentencesOf({ kind, text: text.trimEnd() });
  const rows = [...(why === "" ? [] : [what]), ...(why === "" ? what : why).split("\n")].flatMap(
    (line) => {
      const style = styleOf(line);
      return foldLine(line, inner).map(
        (row, at) => theme.dim(at === 0 ? BAR : FOLDED) + style(row),
      );
    },
  );
  const offered = kind === "question" ? (choices ?? []) : [];
  return [
    ...rows,
    ...effectRows({ effect, kind }, width),
    ...offered.flatMap((choice, at) => labelled(`${at + 1}. `, choice, width)),
  ];
}

/** Of a permission what is asked, and in the rest which rule asks, as `permit` writes them. Else all is `what`. */
export function sentencesOf({ kind, text }: Pick<ShownQuestion, "kind" | "text">): {
  readonly what: string;
  readonly why: string;
} {
  const [line = ""] = text.split("\n", 1);
  // the last one: what is asked may name a file that is called so
  const end = kind === "permission" ? line.lastIndexOf(RULE_ASKS) : -1;
  return end === -1
    ? { what: text, why: "" }
    : { what: text.slice(0, end + 2), why: text.slice(end + 2) };
}

/** Between the two sentences. */
const RULE_ASKS = "? The rule ";

/** The call of which the longer answers are, or what else the answers do. */
function effectRows({ effect, kind }: Pick<ShownQuestion, "effect" | "kind">, width: number) {
  const rule = kind === "permission" ? ruleOfEffect(effect, BUILT_IN_TOOLS) : null;
  if (rule !== null) {
    return labelled(LONGER, ruleText(rule), width);
  }
  const label = kind === "permission" ? "Then: " : "Effect: ";
  return effect === null ? [] : labelled(label, effect, width);
}

/** Before the rule that an answer for longer than this call gives. */
export const LONGER = "Longer: for ";

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

/** What the person answered, as a message is shown. */
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

/** The beginning of a line of a diff, or of what long runs of blanks in one are shown as. */
const IN_HUNK = /^(?:[-+ @\\]|<\d+ (?:spaces|blank lines)>)/;

/** Added and removed lines of the diffs in a question about files. */
function lineStyles(theme: Theme, kind: ShownQuestion["kind"]): (line: string) => Theme["added"] {
  let isInHunk = false;
  const plain = (row: string): string => row;
  return (line) => {
    isInHunk = kind === "permission" && (isInHunk ? IN_HUNK.test(line) : line.startsWith("@@"));
    if (!isInHunk) {
      return plain;
    }
    return line.startsWith("+") ? theme.added : line.startsWith("-") ? theme.removed : plain;
  };
}
