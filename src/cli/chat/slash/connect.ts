import { oneLine } from "../../../core/text/terminal-text.ts";
import { noticeLine } from "../../process/context.ts";
import { runProgram } from "../../process/run-program.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { whoAnswers } from "../who-answers.ts";
import type { SlashContext } from "./slash-context.ts";

/**
 * Runs `reprise setup` in place of the conversation, in a separate process: a key that is typed there is never in
 * this one. Error codes: `invalid_usage` without a terminal.
 */
export async function connectCommand({ cli, conversation, front }: SlashContext): Promise<void> {
  if (cli.stdin.isTTY !== true || !cli.stderr.isTTY) {
    throw wrongUsage("/connect needs a terminal. Run `reprise setup` in place of it.");
  }
  const code = await front.outside(() =>
    runProgram(cli, ["setup"], { cwd: cli.cwd, signal: front.leaving }),
  );
  if (code !== 0) {
    return;
  }
  const planned = conversation.planned();
  const { model } = await whoAnswers(cli, planned);
  if (model !== null) {
    noticeLine(
      cli,
      planned.model === null
        ? `${oneLine(model)} answers here.`
        : `This session keeps ${oneLine(model)}; /model changes it.`,
    );
  }
}
