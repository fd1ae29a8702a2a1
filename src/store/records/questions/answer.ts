import { RepriseError } from "../../../core/errors.ts";
import { isUuid } from "../../../core/ids.ts";
import type { Answerer, GivenReply, PermissionChoice } from "../../../core/questions.ts";
import { quote } from "../../../core/text/terminal-text.ts";
import type { QuestionRecord } from "../../../core/sessions.ts";
import { refuseEnded } from "../sessions/change.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import { recordConsent } from "../sessions/consents.ts";
import type { Operation } from "../../store.ts";
import { settleAdmission } from "./admission.ts";
import { letsContinue, queueWaiting, waitingAbove } from "./continue.ts";
import { QUESTION_COLUMNS, questionNotFound, questionOf, readQuestion } from "./read.ts";
import { delegationOf, lockPath, withinDelegation } from "./tree.ts";
import { type Principal, consenterOf } from "../../../core/principal.ts";

export interface AnswerQuestion {
  /** The session that asks, or one above it: an id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** The question's id. */
  readonly question: string;
  readonly given: GivenReply;
  /** Remark of the person. */
  readonly note: string | null;
  readonly answered_by: Answerer;
  readonly principal?: Principal | undefined;
  /** True if the caller continues the exchange itself; a node does it otherwise. */
  readonly continues?: boolean;
}

/**
 * Answers a question; the first answer counts. If something can continue with it, the exchange at the top of the tree is queued,
 * or is continued once it would wait: see `letsContinue`.
 *
 * Error codes: as `resolveSession`, `session_ended`, `question_not_found`, `question_answered`, `question_withdrawn`;
 * `invalid_request` for a choice that the question does not offer, and for a text in place of a choice or the other way
 * round; `terminal_required` for those of a terminal.
 */
export const answerQuestion: Operation<AnswerQuestion, QuestionRecord> = async (tx, input) => {
  const { id } = await resolveSession(tx, input);
  if (!isUuid(input.question)) {
    // PostgreSQL refuses texts with NUL
    throw questionNotFound();
  }
  const asked = await tx.db
    .selectFrom("questions")
    .select("session_id")
    .where("id", "=", input.question)
    .where("session_id", "in", withinDelegation(id))
    .executeTakeFirst();
  if (asked === undefined) {
    throw questionNotFound();
  }
  const path = await lockPath(tx, asked.session_id);
  refuseEnded(await readSession(tx, { id: asked.session_id }));
  const asking = await delegationOf(tx, path);
  const waiting = await waitingAbove(tx, asking);
  const question = await readQuestion(tx, input.question);
  if (question.state === "answered") {
    throw answeredBefore(question);
  }
  const answer = storableAnswer(question, input.given);
  const { id: subject, session_id } = question;
  await recordConsent(tx, {
    session_id,
    kind: "answer",
    subject,
    who: consenterOf(input.principal),
  });
  const row = await tx.db
    .updateTable("questions")
    .set({
      state: "answered",
      answer,
      note: input.note,
      answered_by: input.answered_by,
      answered_at: tx.dialect.now(),
      answered_here: 1,
      answered_epoch: tx.db
        .selectFrom("sessions")
        .select("lease_epoch")
        .where("id", "=", asking[0] ?? asked.session_id),
    })
    .where("id", "=", input.question)
    .returning(QUESTION_COLUMNS)
    .executeTakeFirstOrThrow();
  await settleAdmission(tx, question, answer);
  for (const each of path) {
    tx.touch(each);
  }
  if (input.continues !== true && waiting !== null && (await letsContinue(tx, question))) {
    await queueWaiting(tx, waiting);
  }
  return questionOf(row);
};

function answeredBefore({ answered_by, answered_at, answered_who }: QuestionRecord): RepriseError {
  const by = answered_who === null ? "" : ` by ${answered_who}`;
  return new RepriseError(
    "question_answered",
    answered_by === "timeout"
      ? "Nobody answered the question in time, so its default answer counts."
      : `The question was answered${by} at ${answered_at ?? "an earlier time"}, and the first answer counts; see it in the question.`,
  );
}

/** Choices that a sentence names. */
const MAX_LISTED = 10;

function listed(ids: readonly string[]): string {
  const more = ids.length > MAX_LISTED ? " …" : "";
  return `${ids.slice(0, MAX_LISTED).map(quote).join(", ")}${more}`;
}

/** Choices that terminals alone offer: they change the mode, or the config, and answer `allow_once`. */
const OF_TERMINALS: readonly string[] = [
  "allow_edits",
  "allow_folder",
] satisfies PermissionChoice[];

/**
 * Returns the value of the column `answer`: the id of a choice that the question offers, or a text if it offers none.
 */
function storableAnswer({ state, kind, choices }: QuestionRecord, given: GivenReply): string {
  if (state === "withdrawn") {
    throw new RepriseError(
      "question_withdrawn",
      "The question needs no answer any more: its exchange was stopped, or another message came after it.",
    );
  }
  if (kind === "permission" && OF_TERMINALS.includes(given.choice ?? "")) {
    throw terminalRequired();
  }
  if (choices === null) {
    return given.text ?? refuse("/choice", "The question has no choices. Send `text` instead.");
  }
  const ids = choices.map(({ id }) => id);
  if (given.choice === undefined) {
    return refuse("/text", `The question has choices. Send \`choice\`, one of ${listed(ids)}.`);
  }
  return ids.includes(given.choice)
    ? given.choice
    : refuse("/choice", `Must be one of ${listed(ids)}.`);
}

function refuse(pointer: string, message: string): never {
  throw new RepriseError(
    "invalid_request",
    "The answer does not fit the question. Send the id of one of its choices, or a text if it has none.",
    { faults: [{ pointer, message }] },
  );
}

/** For an answer that changes the mode, or the config of the user, at a terminal. */
export function terminalRequired(): RepriseError {
  return new RepriseError(
    "terminal_required",
    "This answer changes more than the call, so it is given in a terminal only. Answer there, or allow it for the session.",
  );
}
