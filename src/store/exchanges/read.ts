import type { Selectable } from "kysely";

import { RepriseError } from "../../core/errors.ts";
import { type ExchangeState, isFinal } from "../../core/exchanges.ts";
import { EXCHANGE_FIELDS, type ExchangeRecord } from "../../core/sessions.ts";
import { columnNames, fieldReader } from "../columns.ts";
import type { Fence } from "../leases/fence.ts";
import type { ExchangeTable } from "../schema.ts";
import { resolveSession } from "../sessions/read.ts";
import { selectSessions, sessionOf } from "../sessions/rows.ts";
import type { Operation, Tx } from "../store.ts";

export const RECORD_COLUMNS = columnNames(EXCHANGE_FIELDS);
type RecordRow = Pick<Selectable<ExchangeTable>, (typeof RECORD_COLUMNS)[number]>;

export interface ListExchanges {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** Only exchanges before this one. */
  readonly before_n?: number | undefined;
  readonly limit: number;
}

/**
 * The records of a session, the latest first. Exchanges of older versions have none.
 *
 * Error codes: as `resolveSession`.
 */
export const listExchanges: Operation<ListExchanges, readonly ExchangeRecord[]> = async (
  tx,
  { reference, before_n, limit },
) => {
  const { id } = await resolveSession(tx, { reference });
  return readRecords(tx, id, { before_n, limit });
};

/** One record. Error codes: as `resolveSession`, `exchange_not_found`. */
export const readExchange: Operation<
  { readonly reference: string; readonly n: number },
  ExchangeRecord
> = async (tx, { reference, n }) => {
  const { id } = await resolveSession(tx, { reference });
  return readRecord(tx, id, n);
};

/**
 * True if what ran before this lease was taken has a record: since then it has either the epoch of this lease
 * or, if it was stopped, the one before. An exchange of an older version in between has none.
 */
export const isRecorded: Operation<Fence, boolean> = async (tx, { session_id, epoch }) => {
  const row = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    .where("epoch", "in", [epoch, epoch - 1])
    .orderBy("n", "desc")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

export interface QueuedMessage {
  readonly n: number;
  readonly content: string;
  readonly queued_at: string | null;
}

/** Messages of a session whose exchanges have not begun, in their order. */
export const readQueuedMessages: Operation<
  { readonly session_id: string; readonly limit: number },
  readonly QueuedMessage[]
> = async ({ db }, { session_id, limit }) =>
  db
    .selectFrom("exchanges")
    .select(({ ref }) => ["n", "queued_at", ref("content").$notNull().as("content")])
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("content", "is not", null)
    .orderBy("n")
    .limit(limit)
    .execute();

/** What a record has besides, while it is queued and later. */
export interface QueueState {
  /** The message, until the exchange begins. */
  readonly content: string | null;
  /** How many processes that ran it have died. */
  readonly attempts: number;
  readonly queued_at: string | null;
}

/** As `readExchange`. */
export const readQueuedExchange: Operation<
  { readonly reference: string; readonly n: number },
  ExchangeRecord & { readonly queue: QueueState }
> = async (tx, input) => {
  const record = await readExchange(tx, input);
  const queue = await tx.db
    .selectFrom("exchanges")
    .select(["content", "attempts", "queued_at"])
    .where("session_id", "=", record.session_id)
    .where("n", "=", record.n)
    .executeTakeFirstOrThrow();
  return { ...record, queue };
};

function exchangeNotFound(): RepriseError {
  return new RepriseError(
    "exchange_not_found",
    "The session has no exchange of this number; list its exchanges to see them.",
  );
}

/** One record. Error codes: `exchange_not_found`. */
export async function readRecord(tx: Tx, session_id: string, n: number): Promise<ExchangeRecord> {
  const [record] = await readRecords(tx, session_id, { before_n: n + 1, limit: 1 });
  if (record?.n !== n) {
    throw exchangeNotFound();
  }
  return record;
}

async function readRecords(
  tx: Tx,
  session_id: string,
  { before_n, limit }: Pick<ListExchanges, "before_n" | "limit">,
): Promise<ExchangeRecord[]> {
  const session = await selectSessions(tx)
    .select("lease_epoch")
    .where("id", "=", session_id)
    .executeTakeFirstOrThrow();
  const query = tx.db
    .selectFrom("exchanges")
    .select(RECORD_COLUMNS)
    .select("epoch")
    .where("session_id", "=", session_id)
    .orderBy("n", "desc")
    .limit(limit);
  const page = before_n === undefined ? query : query.where("n", "<", before_n);
  const held = heldOf(session);
  return (await page.execute()).map((row) => recordOf({ ...row, state: stateNow(row, held) }));
}

function heldOf(session: Parameters<typeof sessionOf>[0] & { readonly lease_epoch: number }): Held {
  return {
    isEnded: session.state === "ended",
    isOpen: session.exchange_open === 1,
    epoch: sessionOf(session).activity === "running" ? session.lease_epoch : null,
  };
}

/** Those of these records that exist, of any sessions. */
export async function readRecordsOf(
  tx: Tx,
  records: readonly { readonly id: string; readonly n: number }[],
): Promise<ExchangeRecord[]> {
  const ids = [...new Set(records.map(({ id }) => id))];
  const sessions = await selectSessions(tx).select("lease_epoch").where("id", "in", ids).execute();
  const rows = await tx.db
    .selectFrom("exchanges")
    .select(RECORD_COLUMNS)
    .select("epoch")
    .where(({ eb, and, or }) =>
      or(records.map(({ id, n }) => and([eb("session_id", "=", id), eb("n", "=", n)]))),
    )
    .execute();
  const held = new Map(sessions.map((session) => [session.id, heldOf(session)]));
  return rows.flatMap((row) => {
    const session = held.get(row.session_id);
    return session === undefined ? [] : [recordOf({ ...row, state: stateNow(row, session) })];
  });
}

/** A record as it is stored; one whose process died has the state that it had. */
export const recordOf = fieldReader<typeof EXCHANGE_FIELDS, RecordRow>(EXCHANGE_FIELDS, {});

export interface Held {
  /** True for a session that was ended. */
  readonly isEnded: boolean;
  /** False if the session's last exchange has finished. */
  readonly isOpen: boolean;
  /** Of the lease that is held; null if none is. */
  readonly epoch: number | null;
}

/**
 * A process that was killed has left its record as it was, and an older version knows none: their
 * sessions show what became of the exchange.
 */
export function stateNow(
  { state, epoch }: Pick<Selectable<ExchangeTable>, "state" | "epoch">,
  session: Held,
): ExchangeState {
  if (isFinal(state)) {
    return state;
  }
  if (session.isEnded) {
    return "stopped";
  }
  if (state === "queued") {
    return state;
  }
  if (!session.isOpen) {
    return "stopped";
  }
  return state === "running" && epoch !== session.epoch ? "interrupted" : state;
}
