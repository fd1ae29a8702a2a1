/**
 * A paste that is too long to be shown is one character of the draft, from the last private plane of Unicode. So it
 * moves, is deleted, undone and yanked like any character; only drawing and sending know what it is.
 */
export interface Chips {
  /** The text as a draft holds it: itself if it is short, else the character of a new chip. */
  hold(text: string, shown: Shown): string;
  /** `[paste #1 +4000 lines]`; null if the character is not a chip. */
  label(character: string): string | null;
  /** Chips replaced by their texts. */
  expand(text: string): string;
  /**
   * For the next draft: numbers begin at 1 again, and the texts are freed; but not while what was killed holds one of
   * them.
   */
  clear(killed: string): void;
}

/** Limits of a text that is shown; a longer one is a chip. */
interface Shown {
  readonly maxLines: number;
  readonly maxCharacters: number;
}

export const PASTED: Shown = { maxLines: 5, maxCharacters: 500 };

/** From the history, an editor or a queue: most of it was written by the person. */
export const RECALLED: Shown = { maxLines: 200, maxCharacters: 10_000 };

const FIRST = 0x10_0000;
const LAST = 0x10_fffd;
const CHIPS = /[\u{100000}-\u{10fffd}]/gu;

export function createChips(): Chips {
  const chips: { readonly text: string; readonly label: string }[] = [];
  const chipOf = (character: string) => chips[(character.codePointAt(0) ?? 0) - FIRST];

  return {
    hold: (text, { maxLines, maxCharacters }) => {
      const lines = text.split("\n").length;
      const isShort = text.length <= maxCharacters && lines <= maxLines;
      // a character that would pass for a chip is kept in one
      if ((isShort && text.search(CHIPS) < 0) || FIRST + chips.length > LAST) {
        return text;
      }
      const size = lines > 1 ? `+${lines} lines` : `${text.length} characters`;
      const n = chips.push({ text, label: `[paste #${chips.length + 1} ${size}]` });
      return String.fromCodePoint(FIRST + n - 1);
    },
    label: (character) => chipOf(character)?.label ?? null,
    expand: (text) => text.replace(CHIPS, (character) => chipOf(character)?.text ?? character),
    clear: (killed) => {
      if (killed.search(CHIPS) < 0) {
        chips.splice(0);
      }
    },
  };
}
