import type { Selectable } from "kysely";

import { NO_USAGE, type Usage } from "../../../core/cost/model-calls.ts";
import { RepriseError } from "../../../core/errors.ts";
import type { ExchangeState } from "../../../core/exchanges.ts";
import { EXCHANGE_FIELDS, type ExchangeRecord, type Session } from "../../../core/sessions.ts";
import { columnNames, fieldReader } from "../../columns.ts";
import type { ExchangeTable } from "../../tables/database.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import { usageOfExchanges } from "../model-calls/read-usage.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import { selectSessions, sessionOf } from "../sessions/rows.ts";
import type { Operation, Tx } from "../../store.ts";

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
  input,
) => (await pageOf(tx, input)).records;

/** As `listExchanges`, with what each has used. */
export const listExchangesWithUsage: Operation<
  ListExchanges,
  readonly { readonly record: ExchangeRecord; readonly usage: Usage }[]
> = async (tx, input) => {
  const { id, records } = await pageOf(tx, input);
  const numbers = records.map(({ n }) => n);
  const usage = await usageOfExchanges(tx, id, numbers);
  return records.map((record) => ({ record, usage: usage.get(record.n) ?? NO_USAGE }));
};

async function pageOf(tx: Tx, { reference, before_n, limit }: ListExchanges) {
  const { id, activity } = await resolveSession(tx, { reference });
  const query = tx.db
    .selectFrom("exchanges")
    .select(RECORD_COLUMNS)
    .where("session_id", "=", id)
    .orderBy("n", "desc")
    .limit(limit);
  const page = before_n === undefined ? query : query.where("n", "<", before_n);
  const records = (await page.execute()).map((row) => currentRecordOf(row, activity));
  return { id, records };
}

/** Reads a record. Error codes: as `resolveSession`, `exchange_not_found`. */
export const readExchange: Operation<
  { readonly reference: string; readonly n: number },
  ExchangeRecord
> = async (tx, { reference, n }) => {
  const { id, activity } = await resolveSession(tx, { reference });
  return currentRecordOf(await recordRow(tx, { session_id: id, n }), activity);
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

/** As `readExchange`, with what the exchange has used. */
export const readExchangeWithContent: Operation<
  { readonly reference: string; readonly n: number },
  { readonly record: ExchangeWithContent; readonly usage: Usage }
> = async (tx, { reference, n }) => {
  const { id, activity } = await resolveSession(tx, { reference });
  const row = await recordRow(tx, { session_id: id, n });
  const usage = (await usageOfExchanges(tx, id, [n])).get(n) ?? NO_USAGE;
  return { record: { ...currentRecordOf(row, activity), content: row.content }, usage };
};

function exchangeNotFound(): RepriseError {
  return new RepriseError(
    "exchange_not_found",
    "The session has no exchange of this number; list its exchanges to see them.",
  );
}

/** Reads a record by the session's full id. Error codes: `exchange_not_found`. */
export async function readRecord(tx: Tx, session_id: string, n: number): Promise<ExchangeRecord> {
  const row = await recordRow(tx, { session_id, n });
  const { activity } = await readSession(tx, { id: session_id });
  return currentRecordOf(row, activity);
}

/** Error codes: `exchange_not_found`. */
async function recordRow(tx: Tx, which: RecordKey) {
  const [row] = await tx.rows(recordByNumber, which);
  if (row === undefined) {
    throw exchangeNotFound();
  }
  return row;
}

type RecordKey = Pick<ExchangeRecord, "session_id" | "n">;

const recordByNumber = prepared(({ db }, given: Parameter<RecordKey>) =>
  db
    .selectFrom("exchanges")
    .select([...RECORD_COLUMNS, "content"])
    .where("session_id", "=", given("session_id"))
    .where("n", "=", given("n")),
);

/** Reads those of these records that exist, of any sessions. */
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

function currentRecordOf(row: RecordRow, activity: Session["activity"]): ExchangeRecord {
  return recordOf({ ...row, state: stateNow(row, activity === "running") });
}

/**
 * The state of a record now: a process that was killed has left it as it was. `isRun`: true while a process holds the
 * session's lease.
 */
export function stateNow({ state }: Pick<ExchangeRecord, "state">, isRun: boolean): ExchangeState {
  return state === "running" && !isRun ? "interrupted" : state;
}
