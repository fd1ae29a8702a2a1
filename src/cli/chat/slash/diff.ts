import { changeLines } from "../../output/change-lines.ts";
import { noticeLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import type { SlashContext } from "./slash-context.ts";
import { WHOLE_SESSION } from "./slash-values.ts";

/** `/diff`: what the last exchange that changed files changed, or with `all` the session. Error codes: `invalid_usage`. */
export async function diffSlash(
  { cli, conversation, front }: SlashContext,
  argument: string,
): Promise<void> {
  if (!["", WHOLE_SESSION].includes(argument)) {
    throw wrongUsage("Write /diff for the last exchange that changed files, or /diff all.");
  }
  const isAll = argument === WHOLE_SESSION;
  const changes = isAll ? await conversation.changesOfSession() : await conversation.changes();
  if (changes.length === 0) {
    noticeLine(cli, "The agent has changed no file in this session.");
  } else if (front.showDiff === null) {
    changeLines(changes).forEach((line) => noticeLine(cli, line));
  } else {
    const title = isAll ? "Changes of the session" : "Changes of the last exchange with changes";
    await front.showDiff(title, changes);
  }
}
