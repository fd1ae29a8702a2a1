import { createInterface } from "node:readline";

import type { CliContext } from "./context.ts";
import type { Output } from "./output.ts";

/** A line from the terminal; null at Esc, Ctrl-C and Ctrl-D. Nothing that was pasted after the line is shown or kept. */
export async function ask(
  cli: CliContext,
  input: { readonly question: string; readonly on: Output },
): Promise<string | null> {
  const drawing = input.on.drawing();
  const prompt = createInterface({
    input: cli.stdin,
    output: drawing,
    terminal: input.on.isTTY,
  });
  const onKey = (_: unknown, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "escape") {
      prompt.close();
    }
  };
  cli.stdin.on("keypress", onKey);
  try {
    return await new Promise((resolve) => {
      prompt.once("close", () => resolve(null));
      prompt.question(input.question, (line) => {
        // the editor draws the rest of a paste, which may be the key that is asked for next
        drawing.hidden = true;
        resolve(line);
      });
    });
  } finally {
    cli.stdin.off("keypress", onKey);
    prompt.close();
    drawing.destroy();
  }
}

/** Only `y` or `yes` is a yes. */
export function isYes(answer: string | null): boolean {
  return answer !== null && /^y(es)?$/i.test(answer.trim());
}
