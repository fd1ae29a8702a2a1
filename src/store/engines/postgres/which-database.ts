import { sql } from "kysely";

import type { Operation } from "../../store.ts";

/**
 * Tells tables of one server, database and schema from all others, by whatever address they are
 * reached: since when the server runs (to the microsecond) and the numbers of database and table.
 */
export const whichDatabase: Operation<null, string> = async (tx) => {
  const { rows } = await sql<{ name: string }>`
    SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' '
      || (SELECT oid FROM pg_database WHERE datname = current_database())::text || ' '
      || 'sessions'::regclass::oid::text AS name`.execute(tx.db);
  return rows[0]?.name ?? "";
};
