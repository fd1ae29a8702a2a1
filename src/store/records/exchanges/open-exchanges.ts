import { sql } from "kysely";

import type { Operation } from "../../store.ts";

/** Exchanges of all processes on this database that have begun and not finished. */
export interface OpenExchanges {
  /** Their lease is held: they are running. */
  readonly running: number;
  /** They were cut off, or wait for a person, in sessions that have not ended. */
  readonly left: number;
}

/** Costs as much as there are open exchanges, however many sessions there are. */
export const countOpenExchanges: Operation<null, OpenExchanges> = async (tx) => {
  const isHeld = sql<boolean>`lease_owner is not null and lease_expires_at > ${tx.dialect.now()}`;
  return (
    tx.db
      .selectFrom("sessions")
      .select([
        sql<number>`count(*) filter (where ${isHeld})`.as("running"),
        sql<number>`count(*) filter (where not (${isHeld}) and state = 'active')`.as("left"),
      ])
      // repeats the expression of the index, so that it is used
      .where("exchange_open", "=", sql<number>`1`)
      .executeTakeFirstOrThrow()
  );
};
