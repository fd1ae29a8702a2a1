import type { LiveState } from "../../../core/live/live-state.ts";
import type { SessionSummary } from "../../../core/schemas/schemas.ts";
import type { ExchangeRecord, Message } from "../../../core/sessions.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import { readCurrent } from "../exchanges/current.ts";
import { readRecord } from "../exchanges/read.ts";
import type { LeaseOwner } from "../leases/this-process.ts";
import { messageOf, selectMessages } from "../messages/rows.ts";
import { readPageAfter, type StreamPageInput } from "../messages/stream-page.ts";
import { listOpenQuestions, type OpenQuestion } from "../questions/read.ts";
import { readSummary } from "../sessions/summaries.ts";
import type { Operation, Tx } from "../../store.ts";

/** How far a reader has read the text of an answer. */
export interface TextPosition {
  readonly message_id: string;
  readonly attempt: number;
  /** Code points. */
  readonly offset: number;
}

export interface ReadLive extends StreamPageInput {
  /** If this answer is still being written, its text begins at this offset or somewhat before. */
  readonly text_from?: TextPosition | null;
}

/** State of a session while an exchange runs, read in one consistent state. */
export interface LiveSnapshot {
  readonly session: SessionSummary;
  /** After `after_seq`; see `readStreamPage`. */
  readonly messages: readonly Message[];
  readonly more: boolean;
  /** Exchange that runs, or the last one; see `readCurrent`. Null if the session has no record. */
  readonly exchange: ExchangeRecord | null;
  /** The process that runs it, as far as its lease says so; null if none does. */
  readonly runner: LeaseOwner | null;
  /** The open ones of the session and of its sub-agents. */
  readonly questions: readonly OpenQuestion[];
  readonly live: LiveAnswer | null;
  /** The message of `text_from`, wherever it is, if it is stored: an answer that broke off may be replaced. */
  readonly answer: Message | null;
}

/** Progress that an exchange which is running has stored. */
export interface LiveAnswer {
  readonly n: number;
  /**
   * Rises whenever the exchange begins again in another process. The text of a message in one attempt only
   * grows.
   */
  readonly attempt: number;
  /** Revision of the state, in this attempt. */
  readonly revision: number;
  readonly state: LiveState;
  /** The answer that is being written; null between two. */
  readonly message_id: string | null;
  /** Code points of the answer before `text`: 0 unless `text_from` says more. */
  readonly offset: number;
  /** Text that is stored of it from there on. */
  readonly text: string;
}

/**
 * Reads what is shown of a session. An answer is in `live` until the commit that stores its message, so that
 * no read misses both.
 *
 * Error codes: `session_not_found`.
 */
export const readLive: Operation<ReadLive, LiveSnapshot> = async (tx, input) => {
  const { session_id: id, text_from = null } = input;
  const session = await readSummary(tx, { id });
  const page = await readPageAfter(tx, input);
  const current = (await readCurrent(tx, [id])).get(id);
  const exchange = current === undefined ? null : await readRecord(tx, id, current.n);
  return {
    session,
    ...page,
    exchange,
    runner: exchange?.state === "running" ? (current?.holder ?? null) : null,
    questions: await listOpenQuestions(tx, { reference: id }),
    live: exchange?.state === "running" ? await liveAnswer(tx, exchange, text_from) : null,
    answer: text_from === null ? null : await readMessage(tx, id, text_from.message_id),
  };
};

async function liveAnswer(
  tx: Tx,
  { session_id, n }: ExchangeRecord,
  from: TextPosition | null,
): Promise<LiveAnswer | null> {
  const [row] = await tx.rows(currentState, { session_id, n });
  if (row === undefined) {
    return null;
  }
  const { epoch, revision, message_id, value } = row;
  const isSame = from !== null && from.message_id === message_id && from.attempt === epoch;
  const pieces =
    message_id === null
      ? []
      : await tx.rows(piecesFrom, {
          session_id,
          message_id,
          epoch,
          offset: isSame ? from.offset : 0,
        });
  return {
    n,
    attempt: epoch,
    revision,
    state: JSON.parse(value) as LiveState,
    message_id,
    offset: pieces[0]?.position ?? 0,
    text: pieces.map(({ text }) => text).join(""),
  };
}

/** A process that lost its lease may have left a state: it has another epoch. */
const currentState = prepared(
  ({ db }, given: Parameter<{ readonly session_id: string; readonly n: number }>) =>
    db
      .selectFrom("live_states")
      .innerJoin("sessions", (join) =>
        join
          .onRef("sessions.id", "=", "live_states.session_id")
          .onRef("sessions.lease_epoch", "=", "live_states.epoch"),
      )
      .select(["epoch", "revision", "message_id", "value"])
      .where("live_states.session_id", "=", given("session_id"))
      .where("n", "=", given("n")),
);

interface PiecesFrom {
  readonly session_id: string;
  readonly message_id: string;
  readonly epoch: number;
  readonly offset: number;
}

/** Selects the pieces from the one on that holds the offset, in order. */
const piecesFrom = prepared(({ db }, given: Parameter<PiecesFrom>) =>
  db
    .selectFrom("answer_pieces")
    .select(["position", "text"])
    .where("session_id", "=", given("session_id"))
    .where("message_id", "=", given("message_id"))
    .where("epoch", "=", given("epoch"))
    .where("position", ">=", (eb) =>
      eb.fn.coalesce(
        eb
          .selectFrom("answer_pieces as before")
          .select((before) => before.fn.max<number>("before.position").as("position"))
          .where("before.session_id", "=", given("session_id"))
          .where("before.message_id", "=", given("message_id"))
          .where("before.epoch", "=", given("epoch"))
          .where("before.position", "<=", given("offset")),
        eb.lit(0),
      ),
    )
    .orderBy("position"),
);

async function readMessage(
  tx: Tx,
  session_id: string,
  message_id: string,
): Promise<Message | null> {
  const [row] = await tx.rows(messageById, { session_id, message_id });
  return row === undefined ? null : messageOf(row);
}

const messageById = prepared(
  (parts, given: Parameter<{ readonly session_id: string; readonly message_id: string }>) =>
    selectMessages(parts, given("session_id")).where("message_id", "=", given("message_id")),
);
