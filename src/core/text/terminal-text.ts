/**
 * Characters that a terminal obeys or hides: controls but line feed and tab, lone surrogates, line
 * and paragraph separators, marks of the writing direction and everything else without a shape.
 * The joiners U+200C and U+200D stay: emoji and several scripts are written with them.
 */
const UNSAFE =
  /(?![\n\t])\p{Cc}|[\p{Cs}\p{Zl}\p{Zp}\ufff9-\ufffb\u3164\uffa0]|(?=\p{Cf})\p{Default_Ignorable_Code_Point}/gu;

const JOINERS: ReadonlySet<string> = new Set(["\u200c", "\u200d"]);

/** Text as a terminal may show it: `␛` for ESC, `<U+202E>` for what has no such sign. */
export function visible(text: string): string {
  return replaceUnsafe(text.replaceAll("\r\n", "\n"), signOf);
}

/** Styles and links (OSC 8), the only sequences that a row of text may have. */
// oxlint-disable-next-line no-control-regex -- these are the sequences that may pass
const STYLE = /(\u001b\[[\d;:]*m|\u001b\]8;[^\u0000-\u001f\u007f-\u009f]*\u001b\\)/;

/** Rows as text, each as `visible` shows it, with the styles and links that this program added. */
export function rowsText(rows: readonly string[]): string {
  return rows
    .map((row) => `${row}\n`)
    .join("")
    .split(STYLE)
    .map((piece, index) => (index % 2 === 1 ? piece : visible(piece)))
    .join("");
}

/** An id on one line: every character is shown, white space too. */
export function exactLine(id: string): string {
  return replaceUnsafe(id, signOf).replace(/[\n\t]/g, (control) => signOf(control.charCodeAt(0)));
}

function signOf(code: number): string {
  if (code === DELETE) {
    return "\u2421";
  }
  return code < 0x20
    ? String.fromCodePoint(CONTROL_PICTURES + code)
    : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** JSON as a terminal may show it: the same characters as `\u` sequences, so that the value stays. */
export function visibleJson(json: string): string {
  return replaceUnsafe(json, (_, character) => escaped(character));
}

/** JSON for a reader of lines, some of which split at more than a line feed; the value stays. */
export function lineSafeJson(json: string): string {
  return json.replace(/[\u0085\u2028\u2029]/g, escaped);
}

/** Writes a sequence for each UTF-16 unit. */
function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** Text for one line of a terminal: white space collapsed, the rest as `visible` shows it. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/gu, " ")).trim();
}

/** A session's name, or its title, on one line. */
export function titleLine(session: {
  readonly title: string | null;
  readonly name?: string | null;
}): string {
  return oneLine(session.name ?? session.title ?? "(no message yet)");
}

const MAX_QUOTED = 60;

/** A name from outside, in quotes for a sentence, cut after 60 characters. */
export function quote(name: string): string {
  // a code point is two units at most, so a name of megabytes is never spread out
  const start = Array.from(name.slice(0, 2 * MAX_QUOTED + 2));
  return `"${oneLine(start.length > MAX_QUOTED ? `${start.slice(0, MAX_QUOTED).join("")}…` : name)}"`;
}

const DELETE = 0x7f;
/** U+2400 is the sign for NUL, and the other controls follow in order. */
const CONTROL_PICTURES = 0x2400;

function replaceUnsafe(text: string, sign: (code: number, character: string) => string): string {
  return text.replace(UNSAFE, (character) =>
    JOINERS.has(character) ? character : sign(character.codePointAt(0) ?? 0, character),
  );
}
