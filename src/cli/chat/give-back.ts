import { isRepriseError } from "../../core/errors.ts";
import { oneLine, visible } from "../../core/text/terminal-text.ts";
import { readUnsent } from "../../store/records/exchanges/unsent.ts";
import { readMessagesAfter } from "../../store/records/messages/read.ts";
import { noticeLine } from "../process/context.ts";
import type { Store } from "../../store/store.ts";
import type { Front, Typed } from "./front.ts";
import type { Talk } from "./talk.ts";

interface Prompting extends Pick<Talk, "cli" | "conversation" | "json"> {
  readonly store: Store;
  readonly front: Front;
}

/** A message that was to be sent. */
export interface Sent {
  readonly typed: Typed;
  /** Text that the agent was to get. */
  readonly text: string;
  /** The last message of the session before. */
  readonly after: number;
}

/** Messages that may have come before it in the same transaction. */
const MAX_BEFORE = 200;

/** Puts a message that was not stored back into the prompt, after a failure. */
export async function giveBack(context: Prompting, sent: Sent): Promise<void> {
  const { cli, json } = context;
  if (cli.stdin.isTTY !== true || json || (await isStored(context, sent))) {
    return;
  }
  showUnsent(context, sent);
}

/** Puts a message that is not stored back. */
export function showUnsent(
  { cli, front }: Pick<Prompting, "cli" | "front">,
  { typed }: Sent,
): void {
  noticeLine(cli, "Your message was not sent; it is at the prompt again.");
  front.giveBack(typed);
}

/** False if nobody knows: a person sees the message, and decides. */
async function isStored(
  { store, conversation }: Prompting,
  { text, after }: Sent,
): Promise<boolean> {
  const session_id = conversation.current()?.id;
  if (session_id === undefined) {
    return false;
  }
  try {
    const page = { session_id, after_seq: after, all: true, limit: MAX_BEFORE };
    const messages = await store.read(readMessagesAfter, page);
    return messages.some(({ role, content }) => role === "user" && content === text);
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    return false;
  }
}

/** Puts the last message into the prompt of a session that is resumed, if its exchange failed before it began. */
export async function offerUnsent({ cli, store, conversation, front }: Prompting): Promise<void> {
  const session_id = conversation.current()?.id;
  if (session_id === undefined) {
    return;
  }
  const [unsent] = await store.read(readUnsent, { session_id, all: false, limit: 1 });
  if (unsent === undefined) {
    return;
  }
  noticeLine(
    cli,
    `The message of exchange ${unsent.n} was refused before it began [${oneLine(unsent.error_code)}]; it is at the prompt again.`,
  );
  front.giveBack({ text: visible(unsent.content), pasted: true });
}
