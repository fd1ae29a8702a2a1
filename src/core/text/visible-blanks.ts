/**
 * Characters that show nothing but a gap: white space, the blanks of Braille, of music and of two old scripts, and characters without
 * a shape between them. One class: a character that two alternatives match makes the search below take for ever.
 */
const BLANK = String.raw`[[\s\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}\p{Default_Ignorable_Code_Point}]--\n]`;
/** More of them than this could push what comes after them out of view. */
const RUN_OF_BLANKS = new RegExp(`${BLANK}{9,}|(?:${BLANK}*\\n){10,}`, "gv");
/** Beginning of a line before its indentation: nothing, or the sign of a line of a diff. */
const LINE_BEGIN = /(?:^|\n)[-+]?$/;

/** Blanks that are kept at the beginning of a line of code. */
export const MAX_INDENTATION = 40;

/**
 * A text in which long runs of blanks are shown as `<4600 spaces>`, so that they hide nothing after them. At the
 * beginning of a line, and after the sign of a line of a diff, `indentation` blanks are kept.
 */
export function visibleBlanks(text: string, indentation = 0): string {
  return text.replace(RUN_OF_BLANKS, (run, at: number) => {
    const lines = run.split("\n").length - 1;
    if (lines > 0) {
      return `\n<${lines - 1} blank lines>\n`;
    }
    const { length } = Array.from(run);
    const isKept = length <= indentation && LINE_BEGIN.test(text.slice(Math.max(0, at - 2), at));
    return isKept ? run : `<${length} spaces>`;
  });
}
