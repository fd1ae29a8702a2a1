import { oneLine } from "../../../core/text/terminal-text.ts";
import { decodePrintableKey, matchesKey } from "../pi/keys.ts";

/**
 * Returns a line of text after a key, for a field that is typed at its end: Backspace, Ctrl-W for a word, Ctrl-U for
 * all of it. Null if the key is none of this field's.
 */
export function typed(text: string, key: string, max: number): string | null {
  if (matchesKey(key, "backspace")) {
    return withoutLast(text);
  }
  if (matchesKey(key, "ctrl+w") || matchesKey(key, "alt+backspace")) {
    return text.replace(/\S*\s*$/u, "");
  }
  if (matchesKey(key, "ctrl+u")) {
    return "";
  }
  const character = decodePrintableKey(key) ?? key;
  // half of a character beyond U+FFFF comes alone, and the other half after it
  return /^(?:\P{C}+|\p{Cs})$/u.test(character) ? limited(text + character, max) : null;
}

/** The text with a paste at its end, on one line. */
export function pasted(text: string, paste: string, max: number): string {
  return limited(`${text}${oneLine(paste.slice(0, 4 * max))}`, max);
}

function limited(text: string, max: number): string {
  const characters = Array.from(text);
  return characters.length <= max ? text : characters.slice(0, max).join("");
}

function withoutLast(text: string): string {
  const last = [...new Intl.Segmenter().segment(text)].at(-1);
  return text.slice(0, last?.index ?? 0);
}
