import { type Selectable, type SelectQueryBuilder, sql } from "kysely";

import type { Activity, Session } from "../../core/sessions.ts";
import { isGone, type LeaseOwner } from "../leases/this-process.ts";
import type { QueryParts } from "../engines/prepared.ts";
import type { Dialect } from "../engines/dialect.ts";
import { jsonMembers } from "../sql-json.ts";
import type { Database, SessionTable } from "../schema.ts";

type SessionRow = Omit<
  Selectable<SessionTable>,
  | "parent_call_id"
  | "cleared_seq"
  | "lease_owner"
  | "lease_epoch"
  | "lease_expires_at"
  | "last_activity_at"
  | "origin"
  | "authenticated"
  | "accepted_at"
  | "chosen"
  | "create_key"
  | "create_request"
  | "input_tokens_ahead"
  | "failure_code"
  | "failure_sentence"
  | "failure_epoch"
> & { holder: string | null };

/** Selects sessions as the program sees them. */
export function selectSessions(
  parts: QueryParts,
): SelectQueryBuilder<Database, "sessions", SessionRow> {
  return parts.db.selectFrom("sessions").select(sessionColumns(parts));
}

/** The columns of a session as the program sees it; `holder` has the lease by the database's clock. */
export function sessionColumns({ dialect }: Pick<QueryParts, "dialect">) {
  return [
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
    "exchange_open",
    leaseHolder(dialect),
  ] as const;
}

function leaseHolder(dialect: Dialect) {
  return sql<string | null>`case when lease_expires_at > ${dialect.now()} then lease_owner end`.as(
    "holder",
  );
}

/** Field by field: copying all but some of a row's fields takes four times as long. */
export function sessionOf(row: SessionRow): Session {
  return {
    id: row.id,
    state: row.state,
    activity: activityOf(row.holder, row.exchange_open === 1),
    title: row.title,
    persona_name: row.persona_name,
    model: row.model,
    repo_path: row.repo_path,
    project_key: row.project_key,
    plan_mode: row.plan_mode === 1,
    parent_session_id: row.parent_session_id,
    depth: row.depth,
    total_input_tokens: row.total_input_tokens,
    total_output_tokens: row.total_output_tokens,
    thread_suffix: row.thread_suffix,
    last_seq: row.last_seq,
    created_at: row.created_at,
    last_message_at: row.last_message_at,
    ended_at: row.ended_at,
  };
}

/** What a summary holds of a session before and after `activity`, which the database does not know. */
const HEAD = { id: "text", state: "text" } as const;
const TAIL = {
  title: "text",
  persona_name: "text",
  model: "text",
  repo_path: "text",
  project_key: "text",
  plan_mode: "flag",
  parent_session_id: "text",
  depth: "number",
  total_input_tokens: "number",
  total_output_tokens: "number",
  last_seq: "number",
  created_at: "text",
  last_message_at: "text",
  ended_at: "text",
} as const;

interface SummaryRow {
  readonly head: string;
  readonly tail: string;
  readonly exchange_open: number;
  readonly holder: string | null;
}

/** The columns of a session of which `summaryText` makes the JSON of its summary. */
export function summaryColumns({ dialect }: Pick<QueryParts, "dialect">) {
  return [
    jsonMembers(dialect, HEAD).as("head"),
    jsonMembers(dialect, TAIL).as("tail"),
    "exchange_open",
    leaseHolder(dialect),
  ] as const;
}

/** The same bytes as `JSON.stringify(sessionSummary(session))`. */
export function summaryText({ head, tail, holder, exchange_open }: SummaryRow): string {
  return `{${head},"activity":"${activityOf(holder, exchange_open === 1)}",${tail}}`;
}

/** A process of this machine that was killed is at work no more, although its lease still runs. */
function activityOf(holder: string | null, open: boolean): Activity {
  if (holder !== null && !isGone(JSON.parse(holder) as LeaseOwner)) {
    return "running";
  }
  return open ? "interrupted" : "idle";
}
