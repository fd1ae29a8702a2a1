import type { Theme } from "../text/theme.ts";
import { cell, cut } from "../text/fit.ts";

/** Text that shows the keys if nothing else is written. */
export const KEYS_SIGN = "?";

const KEYS = [
  ["Enter", "send; waits while one runs"],
  ["Shift-Enter", "new line (or Ctrl-J)"],
  ["Esc", "stop; twice: go back"],
  ["Shift-Tab", "ask, edits, auto, plan"],
  ["Tab", "take a completion"],
  ["Up, Down", "earlier messages"],
  ["Ctrl-R", "search them"],
  ["Ctrl-G", "write in your editor"],
  ["Ctrl-O", "the last call in full"],
  ["Ctrl-Z", "pause; fg continues"],
  ["Ctrl-C", "empty, stop; twice: leave"],
  ["Ctrl-D", "leave; the session is kept"],
] as const;

const KEY_COLUMNS = 13;
/** A narrower terminal gets one list. */
const MIN_TWO_LISTS = 80;

/** The keys of the screen with what they do, in two lists side by side if they fit. */
export function keyRows({
  theme,
  width,
}: {
  readonly theme: Theme;
  readonly width: number;
}): string[] {
  const lists = width >= MIN_TWO_LISTS ? 2 : 1;
  const columns = Math.floor(width / lists);
  const rows = Math.ceil(KEYS.length / lists);
  const entry = (index: number): string => {
    const [key, does] = KEYS[index] ?? ["", ""];
    return `${theme.accent(cell(key, KEY_COLUMNS))}${theme.dim(cell(does, Math.max(0, columns - KEY_COLUMNS)))}`;
  };
  return Array.from({ length: rows }, (_, row) =>
    cut(
      Array.from({ length: lists }, (_list, list) => entry(list * rows + row)).join(""),
      width,
      "",
    ),
  );
}
