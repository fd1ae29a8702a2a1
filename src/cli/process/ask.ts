import { createInterface } from "node:readline/promises";

import type { CliContext } from "./context.ts";
import type { Output } from "./output.ts";

/** A line from the terminal; null at Ctrl-C and Ctrl-D. */
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
  const closed = new Promise<null>((resolve) => {
    prompt.once("close", () => resolve(null));
  });
  try {
    return await Promise.race([prompt.question(input.question), closed]);
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") {
      return null;
    }
    throw error;
  } finally {
    prompt.close();
    drawing.destroy();
  }
}

/** Only `y` or `yes` is a yes. */
export function isYes(answer: string | null): boolean {
  return answer !== null && /^y(es)?$/i.test(answer.trim());
}
