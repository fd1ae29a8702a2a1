import type { Role } from "../../../core/sessions.ts";
import { batches } from "../threads/bodies.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Fence } from "../leases/fence.ts";
import type { AnswerPieceTable, LiveStateTable } from "../../tables/database.ts";
import type { Operation, Tx } from "../../store.ts";
import { liveHint } from "../../hints.ts";

/** Write of a process for one exchange that it runs. */
export interface LiveWrite extends Fence {
  readonly n: number;
  /** The next text of an answer. */
  readonly piece: Pick<AnswerPieceTable, "message_id" | "position" | "text"> | null;
  /** Null to leave it as it is stored. */
  readonly state: Pick<LiveStateTable, "revision" | "message_id" | "value"> | null;
}

/**
 * `busy`: another transaction holds the session, so it is to be tried again. `lost`: the lease has changed hands,
 * or the session has ended.
 */
export type LiveOutcome = "stored" | "busy" | "lost";

/**
 * Stores how far exchanges are, all in one transaction: each under its lease, or not at all. The text of an
 * answer whose message is stored already is left out. Returns an outcome for each.
 */
export const storeLive: Operation<
  { readonly writes: readonly LiveWrite[] },
  readonly LiveOutcome[]
> = async (tx, { writes }) => {
  const found = new Map(
    (await tx.rows(freeSessions, { writes })).map(({ id, ...row }) => [id, row]),
  );
  const outcomes = writes.map(({ session_id, epoch }): LiveOutcome => {
    const row = found.get(session_id);
    if (row === undefined) {
      return "busy";
    }
    const isHeld = row.lease_owner !== null && row.lease_epoch === epoch && row.state === "active";
    return isHeld ? "stored" : "lost";
  });
  const held = writes.filter((_, index) => outcomes[index] === "stored");
  await storePieces(tx, held);
  const states = held.flatMap(({ session_id, n, epoch, state }) =>
    state === null ? [] : [{ session_id, n, epoch, ...state }],
  );
  if (states.length > 0) {
    await tx.rows(upsertStates, { states });
  }
  for (const { session_id } of held) {
    tx.touch(liveHint(session_id));
  }
  return outcomes;
};

async function storePieces(tx: Tx, held: readonly LiveWrite[]): Promise<void> {
  const pieces = held.flatMap(({ session_id, n, epoch, piece }) =>
    piece === null ? [] : [{ session_id, n, epoch, ...piece }],
  );
  if (pieces.length === 0) {
    return;
  }
  const messages = new Map(
    (await tx.rows(storedMessages, { pieces })).map((row) => [keyOf(row), row]),
  );
  const open = pieces.filter((piece) => {
    const message = messages.get(keyOf(piece));
    return message === undefined || isReplaced(message, piece);
  });
  if (open.length > 0) {
    await tx.rows(upsertPieces, { pieces: open });
  }
}

function keyOf({ session_id, message_id }: Pick<AnswerPieceTable, "session_id" | "message_id">) {
  return `${session_id} ${message_id}`;
}

/** Waiting for one session would delay the text of all. */
const freeSessions = prepared(
  ({ db, dialect }, given: Parameter<{ readonly writes: readonly LiveWrite[] }>) =>
    db
      .selectFrom("sessions")
      .select(["id", "lease_epoch", "lease_owner", "state"])
      .where("id", "in", given.all("writes", "session_id"))
      .modifyEnd(dialect.forUpdateOfFree),
);

interface Pieces {
  readonly pieces: readonly AnswerPieceTable[];
}

/**
 * True if an answer that broke off is replaced: what had arrived of it is a message without tokens, until another
 * answer replaces it. Some providers count no tokens at all; then the earlier pieces are gone, with the commit of the
 * answer.
 */
function isReplaced(
  message: { readonly token_count: number; readonly has_pieces: unknown },
  { position }: Pick<AnswerPieceTable, "position">,
): boolean {
  return message.token_count === 0 && (position === 0 || Boolean(message.has_pieces));
}

const storedMessages = prepared(({ db }, given: Parameter<Pieces>) =>
  db
    .selectFrom("messages")
    .select(["session_id", "message_id", "token_count"])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom("answer_pieces")
            .select(eb.lit(1).as("one"))
            .whereRef("answer_pieces.session_id", "=", "messages.session_id")
            .whereRef("answer_pieces.message_id", "=", "messages.message_id"),
        )
        .as("has_pieces"),
    )
    .where("session_id", "in", given.all("pieces", "session_id"))
    .where("message_id", "in", given.all("pieces", "message_id")),
);

/** Stores pieces again that may be stored: after a lost connection, the next write has its text too. */
const upsertPieces = prepared(({ db }, given: Parameter<Pieces>) =>
  db
    .insertInto("answer_pieces")
    .values([...given.rows("pieces")])
    .onConflict((conflict) =>
      conflict
        .columns(["session_id", "message_id", "epoch", "position"])
        .doUpdateSet((eb) => ({ text: eb.ref("excluded.text") })),
    ),
);

const upsertStates = prepared(
  ({ db }, given: Parameter<{ readonly states: readonly LiveStateTable[] }>) =>
    db
      .insertInto("live_states")
      .values([...given.rows("states")])
      .onConflict((conflict) =>
        conflict.column("session_id").doUpdateSet((eb) => ({
          n: eb.ref("excluded.n"),
          epoch: eb.ref("excluded.epoch"),
          revision: eb.ref("excluded.revision"),
          message_id: eb.ref("excluded.message_id"),
          value: eb.ref("excluded.value"),
        })),
      ),
);

export interface ForgetLive extends Fence {
  /** Text that the agent wrote and stored in no message, or in one with another id. */
  readonly message_ids: readonly string[];
}

/** Removes what is stored of an exchange that is over. What another has stored since stays. */
export const forgetLive: Operation<ForgetLive, void> = async (
  tx,
  { session_id, epoch, message_ids },
) => {
  await tx.rows(deleteState, { session_id, epoch });
  for (const batch of batches(message_ids)) {
    await tx.rows(piecesOf, { session_id, message_ids: batch, epoch });
  }
};

const deleteState = prepared(({ db }, given: Parameter<Fence>) =>
  db
    .deleteFrom("live_states")
    .where("session_id", "=", given("session_id"))
    .where("epoch", "<=", given("epoch")),
);

/**
 * Removes the text of answers whose messages this transaction stores: what the lease has written, or without one,
 * all of it.
 */
export async function deletePieces(
  tx: Tx,
  stored: {
    readonly session_id: string;
    readonly messages: readonly { readonly message_id: string; readonly role: Role }[];
    readonly fence?: Fence | null;
  },
): Promise<void> {
  const { session_id, messages, fence } = stored;
  for (const batch of batches(messages.filter(({ role }) => role === "assistant"))) {
    const message_ids = batch.map(({ message_id }) => message_id);
    await tx.rows(piecesOf, { session_id, message_ids, epoch: fence?.epoch });
  }
}

interface StoredAnswers {
  readonly session_id: string;
  readonly message_ids: readonly string[];
  readonly epoch: number | undefined;
}

const piecesOf = prepared(
  ({ db }, given: Parameter<StoredAnswers>) => {
    const pieces = db
      .deleteFrom("answer_pieces")
      .where("session_id", "=", given("session_id"))
      .where("message_id", "in", given.all("message_ids"));
    return given.has("epoch") ? pieces.where("epoch", "=", given("epoch")) : pieces;
  },
  ["epoch"],
);
