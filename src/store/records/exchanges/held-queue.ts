import { sql } from "kysely";

import type { ExchangeState } from "../../../core/exchanges.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import { sessionNotFound } from "../sessions/read.ts";
import { MAY_BE_UNCONFIRMED } from "../messages/refuse-unconfirmed.ts";
import { IS_PRICE_LIMITED } from "../sessions/limits.ts";
import { selectSessions, sessionOf } from "../sessions/rows.ts";
import type { Tx } from "../../store.ts";
import { BEGUN } from "./records.ts";

/** A session whose row is held until the transaction ends, with what its queue depends on. */
export interface HeldQueue {
  readonly id: string;
  readonly state: "active" | "ended";
  readonly parent_session_id: string | null;
  readonly parent_call_id: string | null;
  readonly exchange_count: number;
  /** True if the last exchange left something to continue. */
  readonly isOpen: boolean;
  /** True while a process has the lease. */
  readonly isRunning: boolean;
  /** False if no model, persona or folder came without authentication: then nothing is to be confirmed. */
  readonly mayBeUnconfirmed: boolean;
  /** True with a limit of the price. */
  readonly isPriceLimited: boolean;
  /** The exchange that has begun and not ended. */
  readonly begun: BegunRecord | null;
  /** The exchange that an earlier request with the same key queued. */
  readonly earlier: { readonly n: number; readonly request: string | null } | null;
}

export interface BegunRecord {
  readonly n: number;
  /** As it is stored: a process that died has left it at `running`. */
  readonly state: ExchangeState;
  /** True while the process that runs it has the lease. */
  readonly isLive: boolean;
  /** True if a node continues it by itself once its process is dead. */
  readonly isOfService: boolean;
  readonly idempotency_key: string | null;
}

/** Error codes: `session_not_found`, if it was deleted since it was read. */
export async function holdQueue(
  tx: Tx,
  { id, idempotency_key = null }: { readonly id: string; readonly idempotency_key?: string | null },
): Promise<HeldQueue> {
  const [row] = await tx.rows(heldSession, { id });
  if (row === undefined) {
    throw sessionNotFound();
  }
  const session = sessionOf(row);
  const records =
    idempotency_key === null
      ? await tx.rows(begunRecord, { id })
      : await tx.rows(begunAndEarlier, { id, idempotency_key });
  const begun = records.find(({ is_begun }) => is_begun === 1);
  const isRunning = session.activity === "running";
  return {
    id,
    state: session.state,
    parent_session_id: session.parent_session_id,
    parent_call_id: session.parent_call_id,
    exchange_count: row.exchange_count,
    isOpen: row.exchange_open === 1,
    isRunning,
    mayBeUnconfirmed: row.may_be_unconfirmed === 1,
    isPriceLimited: Boolean(row.is_price_limited),
    begun:
      begun === undefined
        ? null
        : {
            n: begun.n,
            state: begun.state,
            isLive: isRunning,
            isOfService: begun.queued_at !== null,
            idempotency_key: begun.idempotency_key,
          },
    earlier: records.find(({ is_begun }) => is_begun === 0) ?? null,
  };
}

const heldSession = prepared((parts, given: Parameter<{ readonly id: string }>) =>
  selectSessions(parts)
    .select(["exchange_count", IS_PRICE_LIMITED])
    .select(MAY_BE_UNCONFIRMED)
    .where("id", "=", given("id"))
    .modifyEnd(parts.dialect.forUpdate),
);

const RECORD_COLUMNS = ["n", "state", "queued_at", "idempotency_key", "request"] as const;

const begunRecord = prepared((parts, given: Parameter<{ readonly id: string }>) =>
  selectBegun(parts, given),
);

/** Selects by one statement, in which each half has an index. */
const begunAndEarlier = prepared(
  (parts, given: Parameter<{ readonly id: string; readonly idempotency_key: string }>) =>
    selectBegun(parts, given).unionAll(
      parts.db
        .selectFrom("exchanges")
        .select(RECORD_COLUMNS)
        .select(sql<number>`0`.as("is_begun"))
        .where("session_id", "=", given("id"))
        .where("idempotency_key", "=", given("idempotency_key")),
    ),
);

function selectBegun({ db }: QueryParts, given: Parameter<{ readonly id: string }>) {
  return db
    .selectFrom("exchanges")
    .select(RECORD_COLUMNS)
    .select(sql<number>`1`.as("is_begun"))
    .where("session_id", "=", given("id"))
    .where("ended_at", "is", null)
    .where("state", "in", BEGUN);
}
