import type { Selectable } from "kysely";

import { RepriseError } from "../../core/errors.ts";
import type { ExchangeState } from "../../core/exchanges.ts";
import { EXCHANGE_FIELDS, type ExchangeRecord } from "../../core/sessions.ts";
import { columnNames, fieldReader } from "../columns.ts";
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
 * The records of a session, the latest first.
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

/** A record with its message, until the exchange begins. */
export interface ExchangeWithContent extends ExchangeRecord {
  readonly content: string | null;
}

/** As `readExchange`. */
export const readExchangeWithContent: Operation<
  { readonly reference: string; readonly n: number },
  ExchangeWithContent
> = async (tx, input) => {
  const record = await readExchange(tx, input);
  const { content } = await tx.db
    .selectFrom("exchanges")
    .select("content")
    .where("session_id", "=", record.session_id)
    .where("n", "=", record.n)
    .executeTakeFirstOrThrow();
  return { ...record, content };
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
  const session = await selectSessions(tx).where("id", "=", session_id).executeTakeFirstOrThrow();
  const query = tx.db
    .selectFrom("exchanges")
    .select(RECORD_COLUMNS)
    .where("session_id", "=", session_id)
    .orderBy("n", "desc")
    .limit(limit);
  const page = before_n === undefined ? query : query.where("n", "<", before_n);
  const isRun = sessionOf(session).activity === "running";
  return (await page.execute()).map((row) => recordOf({ ...row, state: stateNow(row, isRun) }));
}

/** Those of these records that exist, of any sessions. */
export async function readRecordsOf(
  tx: Tx,
  records: readonly { readonly id: string; readonly n: number }[],
): Promise<ExchangeRecord[]> {
  const ids = [...new Set(records.map(({ id }) => id))];
  const sessions = await selectSessions(tx).where("id", "in", ids).execute();
  const rows = await tx.db
    .selectFrom("exchanges")
    .select(RECORD_COLUMNS)
    .where(({ eb, and, or }) =>
      or(records.map(({ id, n }) => and([eb("session_id", "=", id), eb("n", "=", n)]))),
    )
    .execute();
  const run = new Set(
    sessions.flatMap((session) => {
      const { id, activity } = sessionOf(session);
      return activity === "running" ? [id] : [];
    }),
  );
  return rows.map((row) => recordOf({ ...row, state: stateNow(row, run.has(row.session_id)) }));
}

/** A record as it is stored; one whose process died has the state that it had. */
export const recordOf = fieldReader<typeof EXCHANGE_FIELDS, RecordRow>(EXCHANGE_FIELDS, {});

/**
 * The state of a record now: a process that was killed has left it as it was. `isRun`: true while a process holds the
 * session's lease.
 */
export function stateNow({ state }: Pick<ExchangeRecord, "state">, isRun: boolean): ExchangeState {
  return state === "running" && !isRun ? "interrupted" : state;
}
