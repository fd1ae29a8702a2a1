import { plural } from "../../../core/text/text.ts";
import type { ForkedConversation } from "../../../exchange/fork-conversation.ts";
import { readSummary } from "../../../store/records/sessions/summaries.ts";
import { noticeLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import type { SlashContext } from "./slash-context.ts";

/** `/fork`: continues in a fork. Error codes: `invalid_usage`, and as `forkSession`. */
export async function forkSlash(context: SlashContext, argument: string): Promise<void> {
  await openFork(context, messageOf("fork", argument));
}

/** The number of a message; undefined for none. Error codes: `invalid_usage`. */
export function messageOf(command: string, argument: string): number | undefined {
  if (!/^\d{0,15}$/.test(argument)) {
    throw wrongUsage(
      `Write /${command} alone, or with the number of a message; \`reprise sessions show\` lists them.`,
    );
  }
  return argument === "" ? undefined : Number(argument);
}

/** Continues in a fork, says where it begins, how to come back, and what else a person should know. */
export async function openFork(
  { cli, conversation, front, store }: SlashContext,
  at_seq: number | undefined,
  notes: readonly string[] = [],
): Promise<void> {
  const forked = await conversation.fork(at_seq);
  const { permission } = await store.read(readSummary, forked.origin);
  const asks = permission === null || permission === "ask" ? [] : [ASKS_AGAIN];
  for (const line of [...forkLines(forked, at_seq), ...asks, ...notes]) {
    noticeLine(cli, line);
  }
  if (forked.seq < forked.origin.last_seq) {
    // what is above on the screen is more than the fork has
    await front.replay();
  }
}

const ASKS_AGAIN = "Its mode is ask: what you allowed before does not count in it.";

function forkLines(
  { fork, origin, seq }: ForkedConversation,
  at_seq: number | undefined,
): readonly string[] {
  const from = origin.id.slice(0, SHOWN_ID);
  const begins =
    seq === 0
      ? `It begins before the first message of ${from}`
      : `It begins after message ${seq} of ${from}`;
  const inside =
    at_seq !== undefined && seq < at_seq ? `, at the end of an exchange before ${at_seq}` : "";
  const left = origin.last_seq - seq;
  const rest = left === 0 ? "" : `, and leaves ${plural(left, "message")} out`;
  return [
    `This is a fork now: ${fork.id.slice(0, SHOWN_ID)}. ${begins}${inside}${rest}.`,
    `${from} keeps all its messages; \`reprise resume ${from}\` goes back to it.`,
  ];
}

/** Characters of an id. */
export const SHOWN_ID = 8;
