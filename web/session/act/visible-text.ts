/** As in `src/core/text/terminal-text.ts`: what no person sees, or what changes the order of what they see. */
const UNSEEN =
  /(?![\n\t])\p{Cc}|[\p{Cs}\p{Zl}\p{Zp}\ufff9-\ufffb\u3164\uffa0]|(?![\u200c\u200d])(?=\p{Cf})\p{Default_Ignorable_Code_Point}/gu;

const DELETE = 0x7f;
/** U+2400 is the sign for NUL, and the other controls follow in order. */
const CONTROL_PICTURES = 0x2400;

/**
 * A text that a person decides about, as a terminal shows it: `␛` for ESC, `<U+202E>` for what has no such sign. What
 * runs must not read as something else.
 */
export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code === DELETE) {
      return "\u2421";
    }
    return code < 0x20
      ? signOf(character)
      : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** The same of the name of a file: also a line break or a tab in it is a sign. */
export function visibleName(name: string): string {
  return visibleText(name.replace(/[\t\n\r]/g, signOf));
}

function signOf(control: string): string {
  return String.fromCodePoint(CONTROL_PICTURES + (control.codePointAt(0) ?? 0));
}
