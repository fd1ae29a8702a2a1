import { oneLine } from "../../../core/text/terminal-text.ts";

/** Text for XML: escaped, and no character in it that XML does not allow. */
export function xml(text: string): string {
  return oneLine(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replace(/[\ufffe\uffff]/g, "\ufffd");
}

/** Characters about twice as wide as a letter. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f000}-\u{3ffff}]/u;

/** About how wide a text is, in units of a letter: fonts differ, so with some margin. */
export function widthOf(text: string): number {
  return Array.from(text).reduce((sum, char) => sum + charWidth(char), 0);
}

/** The beginning of a text that is at most so wide, with … if something was left out. */
export function fitted(text: string, width: number): string {
  if (text.length < 1000 && widthOf(text) <= width) {
    return text;
  }
  let kept = "";
  let left = width - charWidth("…");
  for (const char of text) {
    left -= charWidth(char);
    if (left < 0) {
      break;
    }
    kept += char;
  }
  return `${kept.trimEnd()}…`;
}

/** A text on one line if it is at most so wide, else on two that are as even as its words allow. */
export function onTwoLines(
  text: string,
  width: number,
): readonly [string] | readonly [string, string] {
  const lines = splitsOf(text);
  if (lines.length === 0 || widthOf(text.slice(0, MAX_SPLIT)) <= width) {
    return [text];
  }
  return lines.reduce((best, each) => (longer(each) < longer(best) ? each : best));
}

/** A text on lines as `onTwoLines` has them; one too long for two lines fills the first, and only its end is cut. */
export function cutOnTwoLines(text: string, width: number): readonly string[] {
  const even = onTwoLines(text, width);
  const isCut = even.some((line) => widthOf(line) > width);
  const full = isCut ? splitsOf(text).findLast(([first]) => widthOf(first) <= width) : undefined;
  return (full ?? even).map((line) => fitted(line, width));
}

/** Characters that are split into lines: a title of a megabyte is cut anyway. */
const MAX_SPLIT = 500;

/** The ways to put the words of a text on two lines. */
function splitsOf(text: string): [string, string][] {
  const words = text.slice(0, MAX_SPLIT).split(" ");
  return words
    .slice(1)
    .map((_, at) => [words.slice(0, at + 1).join(" "), words.slice(at + 1).join(" ")]);
}

function longer([first, second]: readonly [string, string]): number {
  return Math.max(widthOf(first), widthOf(second));
}

function charWidth(char: string): number {
  if (WIDE.test(char)) {
    return 1.8;
  }
  return /[A-ZmwMW@…]/.test(char) ? 1.25 : 1;
}
