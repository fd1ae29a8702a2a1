import { RepriseError } from "../../core/errors.ts";
import { isUuid } from "../../core/ids.ts";
import type { Answerer } from "../../core/questions.ts";
import type { QuestionRecord } from "../../core/sessions.ts";
import { refreshReady } from "../exchanges/ready.ts";
import { BEGUN } from "../exchanges/records.ts";
import { lockSession } from "../sessions/lock.ts";
import { refuseEnded } from "../sessions/change.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import { areAnswered } from "./park.ts";
import { questionNotFound, readQuestion } from "./read.ts";
import { pathTo, withinTree } from "./tree.ts";
import { withdrawQuestions } from "./withdraw.ts";

export interface AnswerQuestion {
  /** The session that asks, or one above it: an id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** The question's id. */
  readonly question: string;
  readonly answer: string;
  /** What the person says besides. */
  readonly note: string | null;
  readonly answered_by: Answerer;
  /** True if the caller continues the exchange itself; a node does it otherwise. */
  readonly continues?: boolean;
}

/**
 * Answers a question; the first answer counts. Once all of its exchange are answered, the exchange is
 * queued, if it waits.
 *
 * Error codes: as `resolveSession`, `session_ended`, `question_not_found`, `question_answered`, `question_withdrawn`;
 * `invalid_request` for an answer that is not one of the choices.
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
  const path = await pathTo(tx, asked.session_id, null);
  // a session before those below it, as everywhere
  for (const each of path) {
    await lockSession(tx, each);
  }
  refuseEnded(await readSession(tx, { id: asked.session_id }));
  const waiting = await waitingAbove(tx, path);
  const question = await readQuestion(tx, input.question);
  refuseUnanswerable(question, input.answer);
  await tx.db
    .updateTable("questions")
    .set({
      state: "answered",
      answer: input.answer,
      note: input.note,
      answered_by: input.answered_by,
      answered_at: tx.dialect.now(),
    })
    .where("id", "=", input.question)
    .execute();
  for (const each of path) {
    tx.touch(each);
  }
  if (input.continues !== true && waiting !== null && (await areAnswered(tx, waiting))) {
    await queueWaiting(tx, waiting);
  }
  return readQuestion(tx, input.question);
};

/**
 * The highest session on the path whose exchange waits; null if the sessions above still run. What a
 * version without questions has run since makes them pointless.
 */
async function waitingAbove(tx: Tx, path: readonly string[]): Promise<string | null> {
  const rows = await tx.db
    .selectFrom("exchanges")
    .innerJoin("sessions", "sessions.id", "exchanges.session_id")
    .select([
      "exchanges.session_id",
      "exchanges.state",
      "exchanges.epoch",
      "sessions.lease_epoch",
      "sessions.exchange_open",
    ])
    .where("exchanges.session_id", "in", path)
    .where("exchanges.ended_at", "is", null)
    .where("exchanges.state", "in", BEGUN)
    .execute();
  let highest: string | null = null;
  for (const id of path.toReversed()) {
    const row = rows.find(({ session_id }) => session_id === id);
    if (row === undefined) {
      break;
    }
    if (row.state === "waiting" && (row.epoch !== row.lease_epoch || row.exchange_open === 0)) {
      await withdrawQuestions(tx, id, { isSuperseded: false });
    }
    highest = row.state === "waiting" ? id : null;
  }
  return highest;
}

/** Lets a node continue an exchange that has its answers. Nothing if it does not wait. */
export async function queueWaiting(tx: Tx, session_id: string): Promise<void> {
  await tx.db
    .updateTable("exchanges")
    .set((eb) => ({
      state: "queued",
      revision: eb("revision", "+", 1),
      queued_at: tx.dialect.now(),
    }))
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("state", "=", "waiting")
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("sessions")
          .select("sessions.id")
          .where("sessions.id", "=", session_id)
          .where("sessions.parent_session_id", "is", null),
      ),
    )
    .execute();
  await refreshReady(tx, session_id);
}

function refuseUnanswerable({ state, answered_by, choices }: QuestionRecord, answer: string): void {
  if (state === "answered") {
    throw new RepriseError(
      "question_answered",
      answered_by === "timeout"
        ? "Nobody answered the question in time, so its default answer counts."
        : "The question was answered before, and the first answer counts; see it in the question.",
    );
  }
  if (state === "withdrawn") {
    throw new RepriseError(
      "question_withdrawn",
      "The question needs no answer any more: its exchange was stopped, or another message came after it.",
    );
  }
  if (choices !== null && !choices.includes(answer)) {
    throw new RepriseError(
      "invalid_request",
      "The answer is not one of the question's choices; send one of them.",
      { faults: [{ pointer: "/answer", message: "Must be one of the question's choices." }] },
    );
  }
}
