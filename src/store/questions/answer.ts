import { RepriseError } from "../../core/errors.ts";
import { isUuid } from "../../core/ids.ts";
import { ALLOW_IN_CONFIG } from "../../core/permissions.ts";
import type { Answerer } from "../../core/questions.ts";
import { quote } from "../../core/terminal-text.ts";
import type { QuestionRecord } from "../../core/sessions.ts";
import { refuseEnded } from "../sessions/change.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import { recordConsent } from "../sessions/consents.ts";
import type { Operation } from "../store.ts";
import { settleAdmission } from "./admission.ts";
import { letsContinue, queueWaiting, waitingAbove } from "./continue.ts";
import { questionNotFound, readQuestion } from "./read.ts";
import { lockPath, withinTree } from "./tree.ts";
import { type Principal, consenterOf } from "../../core/principal.ts";

export interface AnswerQuestion {
  /** The session that asks, or one above it: an id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** The question's id. */
  readonly question: string;
  readonly answer: string;
  /** What the person says besides. */
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
 * `invalid_request` for an answer that is not one of the choices, `terminal_required` for `ALLOW_IN_CONFIG`.
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
    .where("session_id", "in", withinTree(id))
    .executeTakeFirst();
  if (asked === undefined) {
    throw questionNotFound();
  }
  const path = await lockPath(tx, asked.session_id);
  refuseEnded(await readSession(tx, { id: asked.session_id }));
  const waiting = await waitingAbove(tx, path);
  const question = await readQuestion(tx, input.question);
  if (question.state === "answered") {
    throw answeredBefore(question);
  }
  refuseUnanswerable(question, input.answer);
  await tx.db
    .updateTable("questions")
    .set({
      state: "answered",
      answer: input.answer,
      note: input.note,
      answered_by: input.answered_by,
      answered_at: tx.dialect.now(),
      answered_here: 1,
      answered_epoch: tx.db
        .selectFrom("sessions")
        .select("lease_epoch")
        .where("id", "=", path[0] ?? asked.session_id),
    })
    .where("id", "=", input.question)
    .execute();
  const { id: subject, session_id } = question;
  await recordConsent(tx, {
    session_id,
    kind: "answer",
    subject,
    who: consenterOf(input.principal),
  });
  await settleAdmission(tx, question, input.answer);
  for (const each of path) {
    tx.touch(each);
  }
  if (input.continues !== true && waiting !== null && (await letsContinue(tx, question))) {
    await queueWaiting(tx, waiting);
  }
  return readQuestion(tx, input.question);
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

function listed(choices: readonly string[]): string {
  const more = choices.length > MAX_LISTED ? " …" : "";
  return `${choices.slice(0, MAX_LISTED).map(quote).join(", ")}${more}`;
}

function refuseUnanswerable({ state, kind, choices }: QuestionRecord, answer: string): void {
  if (state === "withdrawn") {
    throw new RepriseError(
      "question_withdrawn",
      "The question needs no answer any more: its exchange was stopped, or another message came after it.",
    );
  }
  if (kind === "permission" && answer === ALLOW_IN_CONFIG) {
    throw terminalRequired();
  }
  if (choices !== null && !choices.includes(answer)) {
    throw new RepriseError(
      "invalid_request",
      "The answer is not one of the question's choices; send one of them.",
      { faults: [{ pointer: "/answer", message: `Must be one of ${listed(choices)}.` }] },
    );
  }
}

/** For an answer that changes the config of the user at a terminal. */
export function terminalRequired(): RepriseError {
  return new RepriseError(
    "terminal_required",
    "This answer changes your config, so it is given in a terminal only. Answer there, or allow it for the session.",
  );
}
