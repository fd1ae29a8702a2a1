import { visible } from "../../core/text/terminal-text.ts";
import type { Output } from "../process/output.ts";

/**
 * Prints an answer as it arrives, in pieces. Controls are made visible in a pipe as on a terminal:
 * the next program may be a pager.
 */
export function createAnswerText(output: Pick<Output, "print">) {
  let held = "";
  let inLine = false;
  const print = (text: string): void => {
    if (text !== "") {
      output.print(visible(text));
      inLine = !text.endsWith("\n");
    }
  };
  return {
    show: (piece: string): void => {
      const text = held + piece;
      // half a line end, or an unpaired surrogate: the other half comes with the next piece
      held = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? "";
      print(text.slice(0, text.length - held.length));
    },
    /** Ends the line that the answer is in, if it is in one. */
    breakLine: (): void => {
      print(held);
      held = "";
      if (inLine) {
        output.print("\n");
        inLine = false;
      }
    },
  };
}
