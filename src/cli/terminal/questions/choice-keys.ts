import { decodePrintableKey, matchesKey } from "../pi/keys.ts";

/** Result of a key: `none` belongs to somebody else, `unknown` is a character that no choice has. */
export type ChoiceStep =
  | { readonly kind: "chosen"; readonly at: number }
  | { readonly kind: "moved" | "none" | "unknown" | "empty" };

/**
 * Reads keys for choices: the key of one chooses it. Of more than nine, the digits mark it and Enter chooses; so do the
 * arrow keys of all. `empty` is Enter without a mark, which never chooses.
 */
export function createChoiceKeys(keys: readonly string[]) {
  const isMany = keys.some((key) => key.length > 1);
  let marked: number | null = null;
  let digits = "";

  const mark = (at: number): ChoiceStep => {
    marked = (at + keys.length) % keys.length;
    return { kind: "moved" };
  };
  const character = (typed: string): ChoiceStep => {
    digits = /^\d$/.test(typed) ? digits + typed : "";
    const wanted = digits === "" ? typed.toLowerCase() : digits;
    const at = keys.indexOf(wanted);
    if (at !== -1) {
      return isMany ? mark(at) : { kind: "chosen", at };
    }
    digits = "";
    marked = null;
    return { kind: "unknown" };
  };

  return {
    /** More than nine: digits only mark. */
    isMany,
    /** The index of the choice that Enter would choose; null for none. */
    marked: (): number | null => marked,
    mark,
    unmark: (): void => {
      marked = null;
      digits = "";
    },
    key: (data: string): ChoiceStep => {
      const step = stepOf(data);
      const typed = characterOf(data);
      if (typed !== null) {
        return character(typed);
      }
      digits = "";
      if (step !== 0) {
        // down begins with the first, up with the last
        return mark(marked === null ? (step === 1 ? 0 : -1) : marked + step);
      }
      if (matchesKey(data, "enter")) {
        return marked === null ? { kind: "empty" } : { kind: "chosen", at: marked };
      }
      return { kind: "none" };
    },
  };
}

function stepOf(data: string): number {
  if (matchesKey(data, "down") || matchesKey(data, "right")) {
    return 1;
  }
  return matchesKey(data, "up") || matchesKey(data, "left") ? -1 : 0;
}

/** Esc and Ctrl-C. */
export function isBack(data: string): boolean {
  return matchesKey(data, "escape") || matchesKey(data, "ctrl+c");
}

/** The character that a key types; null for another key. */
export function characterOf(data: string): string | null {
  const typed = decodePrintableKey(data) ?? data;
  return /^[^\p{Cc}]$/u.test(typed) ? typed : null;
}
