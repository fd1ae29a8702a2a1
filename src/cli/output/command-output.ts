import { outputLine } from "../../core/text/output-line.ts";

/** Lines of one command that a terminal shows while it runs. */
const MAX_LINES = 200;

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
