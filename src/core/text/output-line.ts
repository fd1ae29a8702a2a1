import { visible } from "./terminal-text.ts";

/** Characters of one line of a command's output that are shown while it runs. */
const MAX_CHARACTERS = 500;

/**
 * Returns what is seen at the end of a line that draws over itself, such as a progress bar; what a terminal would obey is
 * made visible, and a long line is cut.
 */
export function outputLine(line: string): string {
  const last = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  const text = visible(last.slice(0, MAX_CHARACTERS).toWellFormed());
  return last.length > MAX_CHARACTERS ? `${text}…` : text;
}
