import { type Selectable, type SelectQueryBuilder, sql } from "kysely";

import type { Activity, Session } from "../../core/sessions.ts";
import type { Database, SessionTable } from "../schema.ts";
import type { Tx } from "../store.ts";

type SessionRow = Omit<
  Selectable<SessionTable>,
  | "parent_call_id"
  | "cleared_seq"
  | "lease_owner"
  | "lease_epoch"
  | "lease_expires_at"
  | "exchange_open"
  | "last_activity_at"
> & { activity: Activity };

/** Selects sessions as the program sees them; `activity` is told by the database's clock. */
export function selectSessions(tx: Tx): SelectQueryBuilder<Database, "sessions", SessionRow> {
  return tx.db.selectFrom("sessions").select([
    "id",
    "state",
    "persona_name",
    "model",
    "repo_path",
    "project_key",
    "title",
    "plan_mode",
    "parent_session_id",
    "depth",
    "total_input_tokens",
    "total_output_tokens",
    "thread_suffix",
    "last_seq",
    "created_at",
    "last_message_at",
    "ended_at",
    sql<Activity>`case
      when lease_owner is not null and lease_expires_at > ${tx.dialect.now()} then 'running'
      when exchange_open = 1 then 'interrupted'
      else 'idle' end`.as("activity"),
  ]);
}

export function sessionOf(row: SessionRow): Session {
  return { ...row, plan_mode: row.plan_mode === 1 };
}
