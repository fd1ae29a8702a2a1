import { newId } from "../../../core/ids.ts";
import {
  type AdmissionChoice,
  admissionCallId,
  readAdmissionCallId,
} from "../../../core/questions.ts";
import type { QuestionRecord, Session } from "../../../core/sessions.ts";
import { plural } from "../../../core/text/text.ts";
import { admissionChoices } from "../../../core/text/words.ts";
import {
  acceptMessages,
  readUnaccepted,
  type WaitingMessage,
  type WaitingMessages,
} from "../messages/waiting.ts";
import type { Tx } from "../../store.ts";
import { insertQuestion, shownHash } from "./ask.ts";

const YES: AdmissionChoice = "yes";

/** Characters of the messages that one question shows; of a longer one, its beginning. */
const MAX_SHOWN = 16_000;

/**
 * Asks whether the agent may get the messages that callers without authentication left, unless it is asked already.
 * The exchange does not wait for the answer. Messages that one question cannot show are asked about later.
 */
export async function askAdmission(
  tx: Tx,
  { id: session_id, thread_suffix }: Pick<Session, "id" | "thread_suffix">,
): Promise<void> {
  const waiting = await readUnaccepted(tx, { session_id });
  const shown = thatFit(waiting.messages);
  const last = shown.at(-1);
  if (last === undefined) {
    return;
  }
  const asked = await tx.db
    .selectFrom("questions")
    .select(["call_id", "state"])
    .where(({ and }) => and({ session_id, kind: "messages" }))
    .execute();
  if (asked.some(({ state }) => state === "open")) {
    return;
  }
  const call_id = admissionCallId(last.seq);
  const asking = {
    kind: "messages",
    text: textOf({ messages: shown, count: waiting.count }),
    choices: admissionChoices(),
    permission: null,
  } as const;
  await insertQuestion(
    tx,
    { session_id, thread_suffix },
    {
      ...asking,
      id: newId(),
      call_id,
      number: asked.filter((each) => each.call_id === call_id).length + 1,
      shown_hash: shownHash(asking),
      default: null,
    },
  );
}

/** Accepts messages with a yes, in the transaction that stores it. A no is found in the question: see `acceptMessages`. */
export async function settleAdmission(
  tx: Tx,
  { kind, call_id, session_id }: QuestionRecord,
  answer: string,
): Promise<void> {
  if (kind === "messages" && answer === YES) {
    await acceptMessages(tx, { session_id, through_seq: readAdmissionCallId(call_id) });
  }
}

function thatFit(messages: readonly WaitingMessage[]): readonly WaitingMessage[] {
  let length = 0;
  const over = messages.findIndex(({ beginning }, index) => {
    length += beginning.length;
    return index > 0 && length > MAX_SHOWN;
  });
  return over === -1 ? messages : messages.slice(0, over);
}

function textOf({ messages, count }: WaitingMessages): string {
  const quoted = messages.map(({ seq, ts, beginning, length }) => {
    const rest = length - Array.from(beginning).length;
    const lines = beginning.split("\n").map((line) => `| ${line}`);
    return [`[${seq}] ${ts}`, ...lines, ...(rest > 0 ? [`… ${rest} more characters`] : [])];
  });
  const left = count - messages.length;
  return [
    `${plural(count, "message")} came over HTTP without authentication. May the agent get ${messages.length === count ? "this" : `the first ${messages.length}`}?`,
    ...quoted.flat(),
    ...(left > 0 ? [`… ${plural(left, "more message")}`] : []),
  ].join("\n");
}
