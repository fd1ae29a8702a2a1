import { sql } from "kysely";

import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import type { Operation } from "../../store.ts";

/**
 * Reads, of each session that exists, a text that differs once the live feed has something new of it. One query for
 * thousands of sessions.
 */
export const readLiveProgress: Operation<
  { readonly session_ids: readonly string[] },
  ReadonlyMap<string, string>
> = async (tx, { session_ids }) => {
  const { questions } = await tx.db
    .selectFrom("questions")
    .select(sql<string>`count(*) || ' ' || coalesce(max(asked_at), '')`.as("questions"))
    .where("state", "=", "open")
    .executeTakeFirstOrThrow();
  const marks = new Map<string, string>();
  for (let start = 0; start < session_ids.length; start += IDS_PER_QUERY) {
    const ids = session_ids.slice(start, start + IDS_PER_QUERY);
    const rows = await tx.db
      .selectFrom("sessions")
      .leftJoin("live_states", "live_states.session_id", "sessions.id")
      .select(["sessions.id", "last_seq", "state", "lease_epoch", "exchange_open", "ready_at"])
      .select(["live_states.epoch", "live_states.revision"])
      .select(() => [
        sql<number | null>`(select max(position) from answer_pieces
          where session_id = sessions.id and message_id = live_states.message_id
            and epoch = live_states.epoch)`.as("position"),
        sql<string | null>`(select n || '.' || revision from exchanges
          where session_id = sessions.id order by n desc limit 1)`.as("exchange"),
        sql<number | null>`case when agent = ${PLAN_AGENT} then (select max(changed)
          from plan_phases where session_id = sessions.id) end`.as("phases"),
      ])
      .where("sessions.id", "in", ids)
      .execute();
    for (const { id, ...row } of rows) {
      // a question may be asked in a session below this one
      marks.set(id, `${Object.values(row).join(" ")} ${questions}`);
    }
  }
  return marks;
};

/** Far below SQLite's 32,766 and PostgreSQL's 65,535 parameters a statement. */
const IDS_PER_QUERY = 5000;
