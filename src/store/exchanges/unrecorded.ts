import { type RawBuilder, sql } from "kysely";

import { newId } from "../../core/ids.ts";
import type { Tx } from "../store.ts";

/** Messages of the session's thread that belong to no record. A summary belongs to no exchange. */
function uncovered() {
  return sql`from messages where messages.session_id = sessions.id and checkpointed = 1
    and is_summary = 0 and archived = 0 and seq > coalesce((
      select max(last_seq) from exchanges as covering where covering.session_id = sessions.id
    ), 0)`;
}

/**
 * True for a row of `sessions` if a version without records has begun an exchange there and not finished
 * it. What a record of this version has left unfinished has no messages after that record, except results
 * of its calls: they are stored before the next exchange begins.
 */
export function isUnrecorded() {
  return sql<boolean>`(
    exchange_open = 1 and coalesce(failure_epoch, -1) <> lease_epoch
    and not exists (
      select 1 from exchanges as begun
      where begun.session_id = sessions.id and begun.ended_at is null and begun.begun_at is not null
    )
    and exists (select 1 ${uncovered()} and role <> 'tool')
  )`;
}

/**
 * Stores the record of such an exchange; false if there is none. The caller holds the session's row, knows
 * that nobody runs the exchange, and counts the record (`exchange_count`).
 */
export async function recordUnrecorded(
  tx: Tx,
  session_id: string,
  state: "interrupted" | "stopped",
): Promise<boolean> {
  const atEnd = (value: RawBuilder<unknown>) => (state === "stopped" ? value : sql`null`);
  const { rows } = await sql`
    insert into exchanges (session_id, n, id, state, asked_by, thread_suffix, epoch, model,
      persona_name, first_seq, begun_at, last_seq, ended_at)
    select id, exchange_count + 1, ${newId()}, ${state}, 'terminal', thread_suffix, lease_epoch, model,
      persona_name, (select min(seq) ${uncovered()}), (select min(ts) ${uncovered()}),
      ${atEnd(sql`last_seq`)}, ${atEnd(tx.dialect.now())}
    from sessions where id = ${session_id} and ${isUnrecorded()}
    returning n`.execute(tx.db);
  return rows.length > 0;
}
