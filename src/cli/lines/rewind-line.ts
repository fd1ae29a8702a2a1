import { oneLine } from "../../core/text/terminal-text.ts";
import {
  type PickedRewind,
  REWIND_CHOICES,
  type RewindPlan,
  type RewindSource,
} from "../output/rewind-choices.ts";
import { age } from "../output/ages.ts";
import { aligned } from "../output/aligned.ts";
import { shortened } from "../output/tool-lines.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import { wrongUsage } from "../process/wrong-usage.ts";
import type { LineInput } from "./input.ts";

/** Messages that are listed: more do not help anyone to choose. */
const SHOWN = 10;

/**
 * Asks for a message to go back to, and what to do about what came after it; null if the person leaves. Without a
 * terminal the message is named, and both is done. Error codes: `invalid_usage` without one there.
 */
export async function rewindLine(
  cli: CliContext,
  input: Pick<LineInput, "ask">,
  source: RewindSource,
): Promise<PickedRewind | null> {
  const isPerson = cli.stdin.isTTY === true;
  const plan = source.chosen ?? (isPerson ? await askMessage(cli, input, source) : null);
  if (plan === null) {
    if (!isPerson) {
      throw wrongUsage("Write /rewind and the number of a message.");
    }
    return null;
  }
  if (!isPerson || plan.lines.length === 0) {
    return { plan, choice: isPerson ? "fork" : "both" };
  }
  for (const line of plan.lines) {
    noticeLine(cli, line);
  }
  for (const { key, text } of REWIND_CHOICES) {
    noticeLine(cli, `${key}  ${text}`);
  }
  const answer = await input.ask("b, c, f, or Enter for neither: ");
  const choice = REWIND_CHOICES.find(({ key }) => key === answer?.trim().toLowerCase());
  return choice === undefined ? null : { plan, choice: choice.id };
}

async function askMessage(
  cli: CliContext,
  input: Pick<LineInput, "ask">,
  { messages, plan }: RewindSource,
): Promise<RewindPlan | null> {
  const now = Date.now();
  const rows = messages
    .slice(0, SHOWN)
    .map(({ seq, ts, text }) => [String(seq), age(now - Date.parse(ts)), shortened(oneLine(text))]);
  for (const line of aligned(rows)) {
    noticeLine(cli, line);
  }
  const answer = (await input.ask("Go back to before which message? "))?.trim() ?? "";
  if (answer === "") {
    return null;
  }
  if (!/^\d{1,15}$/.test(answer)) {
    throw wrongUsage("This is not the number of a message. Write /rewind again.");
  }
  return plan(Number(answer));
}
