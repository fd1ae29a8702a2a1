import { createInterface } from "node:readline/promises";

import { RepriseError } from "../core/errors.ts";
import type { CliContext } from "./context.ts";

/**
 * Asks before something that cannot be undone. Only `y` or `yes` is a yes.
 *
 * Error codes: `invalid_usage` where nobody is there to answer.
 */
export async function confirm(cli: CliContext, question: string): Promise<boolean> {
  if (cli.stdin.isTTY !== true) {
    throw new RepriseError(
      "invalid_usage",
      "Nothing was deleted: without a terminal to ask on, this needs --yes.",
    );
  }
  const prompt = createInterface({ input: cli.stdin, output: cli.stderr });
  const closed = new Promise<string>((resolve) => {
    prompt.once("close", () => resolve(""));
  });
  try {
    const answer = await Promise.race([prompt.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
