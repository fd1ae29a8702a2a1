import { printable } from "../quote.ts";

/** Text for XML: escaped, and no character in it that XML does not allow. */
export function xml(text: string): string {
  return printable(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replace(/[\ufffe\uffff]/g, "\ufffd");
}

/** Characters about twice as wide as a letter. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f000}-\u{3ffff}]/u;

/** About how wide a text is, in units of a letter: fonts differ, so with some room. */
export function widthOf(text: string): number {
  return Array.from(text).reduce((sum, char) => sum + charWidth(char), 0);
}

/** The beginning of a text that is at most so wide, with … where something was left out. */
export function fitted(text: string, width: number): string {
  if (text.length < 1000 && widthOf(text) <= width) return text;
  let kept = "";
  let left = width - charWidth("…");
  for (const char of text) {
    left -= charWidth(char);
    if (left < 0) break;
    kept += char;
  }
  return `${kept.trimEnd()}…`;
}

function charWidth(char: string): number {
  if (WIDE.test(char)) return 1.8;
  return /[A-ZmwMW@…]/.test(char) ? 1.25 : 1;
}
