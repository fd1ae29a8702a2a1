import { ask, isYes } from "../process/ask.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import { discardInput } from "../process/discard-input.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** Shows what goes and asks. Without a yes nothing is deleted, and the exit code is 1. */
export async function confirmDeletion(
  cli: CliContext,
  lines: readonly string[],
  question: string,
): Promise<boolean> {
  noticeLine(cli, ["This deletes for good:", ...lines].join("\n"));
  const yes = await confirm(cli, question);
  if (!yes) {
    noticeLine(cli, "Nothing was deleted.");
    cli.exitCode = 1;
  }
  return yes;
}

/**
 * Asks before something that cannot be undone.
 *
 * Error codes: `invalid_usage` if there is no terminal to answer on.
 */
async function confirm(cli: CliContext, question: string): Promise<boolean> {
  if (cli.stdin.isTTY !== true) {
    throw wrongUsage(
      "Nothing was deleted, because there is no terminal to confirm on. Use --yes to delete without a question.",
    );
  }
  const answer = await ask(cli, { question: `${question} [y/N] `, on: cli.stderr });
  await discardInput(cli.stdin);
  return isYes(answer);
}
