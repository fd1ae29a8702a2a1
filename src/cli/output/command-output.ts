import { visible } from "../../core/text/terminal-text.ts";

/** Lines of one command that a terminal shows while it runs, and characters of each. */
const MAX_LINES = 200;
const MAX_CHARACTERS = 500;

/** Prints what commands print, each line after a mark: none of it can pass for a line of the program. */
export function createCommandOutput(print: (line: string) => void) {
  const shown = new Map<string, number>();
  return {
    show: ({ call_id, text }: { readonly call_id: string; readonly text: string }): void => {
      for (const line of text.replace(/\n$/, "").split("\n")) {
        const count = (shown.get(call_id) ?? 0) + 1;
        shown.set(call_id, count);
        if (count <= MAX_LINES) {
          print(`  | ${outputLine(line)}`);
        } else if (count === MAX_LINES + 1) {
          print("  | … more lines are not shown here");
        }
      }
    },
  };
}

/** Returns what is seen at the end of a line that draws over itself, such as a progress bar. */
export function outputLine(line: string): string {
  const last = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  const text = visible(last.slice(0, MAX_CHARACTERS).toWellFormed());
  return last.length > MAX_CHARACTERS ? `${text}…` : text;
}
