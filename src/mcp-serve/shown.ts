import { cleanCut, type Cleaner, NOTHING_CLEANED } from "../core/redact/clean.ts";
import { TITLE_LENGTH } from "../core/limits.ts";
import { visible } from "../core/text/terminal-text.ts";
import { beginning, MAX_ARGS_CHARS } from "./bounds.ts";

/** Makes what people, models and files wrote safe to show: everything that a tool returns goes through it. */
export interface Shown {
  /** A whole text: without secrets if that was asked for, and without characters that a terminal obeys. */
  text(text: string): string;
  /** The beginning of a text that is shown so: so many characters, or more. */
  start(text: string, characters: number): string;
  /** A title, which is the beginning of a message. */
  title(title: string | null): string | null;
  /** Words around a hit: what is cut at their ends may be a part of a secret. */
  excerpt(text: string): string;
  /** Arguments of a call as JSON, cut. */
  args(args: unknown): string;
}

const WHERE = "a result of MCP";

export function createShown(cleaner: Cleaner = NOTHING_CLEANED): Shown {
  const text = (given: string): string => visible(cleaner.text(given, WHERE));
  return {
    text,
    // a secret is found in a whole text only; the signs of what is hidden are not shorter than half of it
    start: (given, characters) =>
      text(cleaner === NOTHING_CLEANED ? given.slice(0, 2 * characters + 2) : given),
    title: (given) =>
      given === null
        ? null
        : visible(cleanCut(given, { max: TITLE_LENGTH, where: WHERE, cleaner })),
    excerpt: (given) =>
      cleaner === NOTHING_CLEANED
        ? visible(given)
        : text(withoutCutEnds(cleaner.text(given, WHERE))),
    args: (given) =>
      beginning(
        visible((JSON.stringify(cleaner.value(given, WHERE)) ?? "").slice(0, 2 * MAX_ARGS_CHARS)),
        MAX_ARGS_CHARS,
      ),
  };
}

/** Leaves out the first and the last word unless they are of letters: a part of a secret has no known form. */
function withoutCutEnds(text: string): string {
  return text
    .replace(/^…?(?![\p{L}.,:;!?'-]+(?:\s|$))\S+/u, "[redacted: cut off]")
    .replace(/(?<!\S)(?![\p{L}.,:;!?'-]*…?$)[^\s[\]]+$/u, "[redacted: cut off]");
}
