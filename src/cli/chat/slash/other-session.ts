import { refuseOtherAgent } from "../../../exchange/other-agent.ts";
import { isStorableText } from "../../../core/text/text.ts";
import { quote } from "../../../core/text/terminal-text.ts";
import { refuseEnded } from "../../../store/records/sessions/change.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { noticeLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import type { SlashContext, SlashOutcome } from "./slash-context.ts";

/**
 * `/resume`: continues in the session of an id, or in one that a person chooses. Error codes: `invalid_usage`,
 * `session_not_found`, `ambiguous_id`, `session_ended`, `agent_differs`, `run_takes_no_message`.
 */
export async function resumeSlash(
  { cli, conversation, front, store, answering }: SlashContext,
  argument: string,
): Promise<SlashOutcome> {
  refuseWithoutTerminal(cli);
  if (argument === "" && front.pickSession === null) {
    throw wrongUsage(
      "Write /resume and the id of a session; `reprise sessions list` shows the ids. A screen has a list to choose from.",
    );
  }
  const reference = argument === "" ? await front.pickSession?.() : argument;
  if (reference === null || reference === undefined) {
    return "stay";
  }
  const session = await store.read(resolveSession, { reference });
  if (session.id === conversation.current()?.id) {
    noticeLine(cli, "This session is open here.");
    return "stay";
  }
  refuseEnded(session);
  refuseOtherAgent(session, { agent: answering.agent, hasBegun: session.last_seq > 0 });
  return { open: session.id };
}

/** `/new`: begins another session in the same folder. Error codes: `invalid_usage`. */
export async function newSlash({ cli }: SlashContext): Promise<SlashOutcome> {
  refuseWithoutTerminal(cli);
  return { open: null };
}

/** The rest of a pipe belongs to the session that it was read for. */
function refuseWithoutTerminal({ stdin }: SlashContext["cli"]): void {
  if (stdin.isTTY !== true) {
    throw wrongUsage(
      "/new and /resume need a terminal. Start `reprise` again for another session.",
    );
  }
}

/** `/rename`: names the session. Error codes: `invalid_usage`, `invalid_request`. */
export async function renameSlash(
  { cli, conversation }: SlashContext,
  name: string,
): Promise<void> {
  if (name === "" || !isStorableText(name)) {
    throw wrongUsage("Write /rename and the name, in characters that can be stored.");
  }
  await conversation.rename(name);
  noticeLine(cli, `The session is named ${quote(name)}.`);
}
