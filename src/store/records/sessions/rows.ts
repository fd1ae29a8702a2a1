import { type Selectable, type SelectQueryBuilder, sql } from "kysely";

import { type Activity, SESSION_FIELDS } from "../../../core/sessions.ts";
import { columnNames, fieldReader } from "../../columns.ts";
import { isGone, type LeaseOwner } from "../leases/this-process.ts";
import type { QueryParts } from "../../prepared.ts";
import type { Dialect } from "../../dialect.ts";
import type { Database, SessionTable } from "../../tables/database.ts";

/** The columns of a session as the program uses it. */
const COLUMNS = {
  ...SESSION_FIELDS,
  thread_suffix: "count",
  parent_call_id: "text?",
} as const;
const NAMES = [...columnNames(COLUMNS), "exchange_open"] as const;

type SessionRow = Pick<Selectable<SessionTable>, (typeof NAMES)[number]> & {
  readonly holder: string | null;
};

/** Selects sessions as the program sees them. */
export function selectSessions(
  parts: QueryParts,
): SelectQueryBuilder<Database, "sessions", SessionRow> {
  return parts.db.selectFrom("sessions").select(sessionColumns(parts));
}

/**
 * The columns of a session as the program sees it; `holder` has the lease by the database's clock.
 */
export function sessionColumns({ dialect }: Pick<QueryParts, "dialect">) {
  return [...NAMES, leaseHolder(dialect)] as const;
}

export function leaseHolder(dialect: Dialect) {
  return sql<string | null>`case when lease_expires_at > ${dialect.now()} then lease_owner end`.as(
    "holder",
  );
}

export const sessionOf = fieldReader<typeof COLUMNS, SessionRow>(COLUMNS, {
  activity: ({ holder, exchange_open }) => activityOf(holder, exchange_open === 1),
});

/** A process of this machine that was killed is not running, although its lease has not expired. */
export function activityOf(holder: string | null, open: boolean): Activity {
  if (holder !== null && !isGone(JSON.parse(holder) as LeaseOwner)) {
    return "running";
  }
  return open ? "interrupted" : "idle";
}
