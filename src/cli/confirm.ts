import { ask } from "./ask.ts";
import type { CliContext } from "./context.ts";
import { readDry } from "./read-dry.ts";
import { wrongUsage } from "./wrong-usage.ts";

/**
 * Asks before something that cannot be undone. Only `y` or `yes` is a yes.
 *
 * Error codes: `invalid_usage` if nobody can answer.
 */
export async function confirm(cli: CliContext, question: string): Promise<boolean> {
  if (cli.stdin.isTTY !== true) {
    throw wrongUsage("Nothing was deleted: without a terminal to ask on, this needs --yes.");
  }
  const answer = await ask(cli, { question: `${question} [y/N] `, on: cli.stderr });
  await readDry(cli.stdin);
  return answer !== null && /^y(es)?$/i.test(answer.trim());
}
