import { RepriseError } from "../../../core/errors.ts";
import { listExchanges } from "../../../store/records/exchanges/read.ts";
import { noticeLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { shownReset, whenReset, whyNoWait } from "../limit-wait.ts";
import type { SlashContext, SlashOutcome } from "./slash-context.ts";

/** The word for waiting until the limit is over that the last exchange failed at. */
export const WHEN_RESET = "when-reset";

/**
 * Lets the last exchange continue, at once or when a limit is over. The wait is this terminal's: once it is stopped,
 * nothing continues by itself. Error codes: `invalid_usage`, `nothing_to_continue` without such a limit.
 */
export async function continueExchange(
  { cli, conversation, store, signal }: SlashContext,
  argument: string,
): Promise<SlashOutcome> {
  if (argument === "") {
    return "continue";
  }
  if (argument !== WHEN_RESET) {
    throw wrongUsage(`Write /continue alone, or /continue ${WHEN_RESET}.`);
  }
  const session = conversation.current();
  const [last] =
    session === null ? [] : await store.read(listExchanges, { reference: session.id, limit: 1 });
  const { resets_at = null } = last ?? {};
  if (resets_at === null) {
    throw new RepriseError(
      "nothing_to_continue",
      "The last exchange has reached no limit whose end is known. /continue resumes it now.",
    );
  }
  const whyNot = whyNoWait(resets_at);
  if (whyNot !== null) {
    throw wrongUsage(`${whyNot} /continue asks again now.`);
  }
  noticeLine(cli, `Waiting until ${shownReset(resets_at)}; Ctrl-C stops that.`);
  await whenReset(resets_at, { times: 0, signal });
  return "continue";
}
