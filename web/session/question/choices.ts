import { isHarmlessChoice, type QuestionInfo } from "../../../src/entries/client.ts";

/** Lines of a question that are shown at first: from its head, and from its end. */
const HEAD_LINES = 140;
const TAIL_LINES = 50;

/** The first line says what is asked; the rest is what would happen. */
export interface Asked {
  readonly title: string;
  readonly head: string;
  /** Null if all is in the head. */
  readonly tail: string | null;
  readonly leftOut: number;
  readonly isDiff: boolean;
}

export function askedOf(text: string): Asked {
  const [title = "", ...lines] = text.split("\n");
  const isDiff = lines.some((line) => /^@@ -\d/.test(line));
  if (lines.length <= HEAD_LINES + TAIL_LINES) {
    return { title, head: lines.join("\n"), tail: null, leftOut: 0, isDiff };
  }
  return {
    title,
    head: lines.slice(0, HEAD_LINES).join("\n"),
    tail: lines.slice(-TAIL_LINES).join("\n"),
    leftOut: lines.length - HEAD_LINES - TAIL_LINES,
    isDiff,
  };
}

type Choice = NonNullable<QuestionInfo["choices"]>[number];

const LONGER: ReadonlySet<string> = new Set(["allow_session", "allow_edits", "allow_folder"]);

/** True for a permission that outlasts the exchange. */
export function isLongerChoice({ id }: Choice): boolean {
  return LONGER.has(id);
}

/** The key of an answer among those that are shown at first: `n` for a no, else its number up to 9; null without one. */
export function keyOfChoice(choice: Choice, shown: readonly Choice[]): string | null {
  const yes = shown.filter(({ id }) => !isHarmlessChoice(id));
  const index = yes.indexOf(choice);
  if (index >= 0) {
    return index < 9 ? String(index + 1) : null;
  }
  return choice === shown.at(-1) ? "n" : null;
}
