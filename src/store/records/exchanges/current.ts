import { type RawBuilder, sql } from "kysely";

import type { ExchangeState } from "../../../core/exchanges.ts";
import type { ExchangeRecord } from "../../../core/sessions.ts";
import type { LeaseOwner } from "../leases/this-process.ts";
import { activityOf, leaseHolder } from "../sessions/rows.ts";
import type { Operation, Tx } from "../../store.ts";
import { readRecord, stateNow } from "./read.ts";
import { BEGUN_FIRST } from "./ready.ts";

export interface CurrentExchange {
  readonly n: number;
  readonly state: ExchangeState;
  /** Who holds the session's lease; null if it has none, or an expired one. */
  readonly holder: LeaseOwner | null;
}

/**
 * Reads what sessions do now, by id: the exchange that has begun, else the first one that is queued, else the last
 * one. A session without records has none.
 */
export async function readCurrent(
  tx: Tx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CurrentExchange>> {
  if (ids.length === 0) {
    return new Map();
  }
  const rows = await tx.db
    .selectFrom(
      tx.db
        .selectFrom("sessions")
        .select(["id", "exchange_open", leaseHolder(tx.dialect)])
        .select(CURRENT_N.as("n"))
        .where("id", "in", ids)
        .as("session"),
    )
    .innerJoin("exchanges", (join) =>
      join.onRef("exchanges.session_id", "=", "session.id").onRef("exchanges.n", "=", "session.n"),
    )
    .select([
      "session.id",
      "session.exchange_open",
      "session.holder",
      "exchanges.n",
      "exchanges.state",
    ])
    .execute();
  return new Map(
    rows.map(({ id, exchange_open, holder, n, ...record }) => {
      const isRun = activityOf(holder, exchange_open === 1) === "running";
      const state = stateNow(record, isRun);
      return [
        id,
        { n, state, holder: holder === null ? null : (JSON.parse(holder) as LeaseOwner) },
      ];
    }),
  );
}

/** The record of what a session does now, as `readCurrent`; null if it has none. */
export const readCurrentExchange: Operation<
  { readonly session_id: string },
  ExchangeRecord | null
> = async (tx, { session_id }) => {
  const current = (await readCurrent(tx, [session_id])).get(session_id);
  return current === undefined ? null : readRecord(tx, session_id, current.n);
};

/** For a SELECT of `sessions`: an expression of the record that `readCurrent` finds; null without records. */
export function currentRecord<Value>(value: RawBuilder<Value>): RawBuilder<Value | null> {
  return sql<Value | null>`case when exchange_count > 0 then coalesce(
    (select ${value} from exchanges where session_id = sessions.id and ended_at is null order by ${BEGUN_FIRST}, n limit 1),
    (select ${value} from exchanges where session_id = sessions.id and n = sessions.exchange_count)
  ) end`;
}

const CURRENT_N = currentRecord(sql<number>`n`);
