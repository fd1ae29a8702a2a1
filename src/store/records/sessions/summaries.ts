import { sql } from "kysely";

import type { Usage } from "../../../core/cost/model-calls.ts";
import type { SessionSummary } from "../../../core/schemas/schemas.ts";
import { type Activity, SESSION_FIELDS } from "../../../core/sessions.ts";
import { batches } from "../threads/bodies.ts";
import { jsonColumns } from "../../columns.ts";
import type { Dialect } from "../../dialect.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import { type CurrentExchange, currentRecord } from "../exchanges/current.ts";
import { stateNow } from "../exchanges/read.ts";
import { USAGE_COLUMNS, usageIn } from "../model-calls/read-usage.ts";
import { jsonMembers } from "../../sql-json.ts";
import type { Operation, Tx } from "../../store.ts";
import { sessionNotFound } from "./read.ts";
import { activityOf, leaseHolder } from "./rows.ts";

/** Splits the fields of a summary around `activity`, which the database does not know. */
const { id, state, activity: _, ...rest } = SESSION_FIELDS;
const HEAD = jsonColumns({ id, state });
const TAIL = jsonColumns(rest);

interface SummaryRow {
  readonly head: string;
  /** With the metadata, the permission mode and the origin of a fork. */
  readonly tail: string;
  /** JSON of what the session does now, its state as it is stored; null if it has no exchange. */
  readonly exchange: string | null;
  readonly exchange_open: number;
  readonly holder: string | null;
}

/**
 * The columns of a session of which `summaryText` makes the JSON of its summary: its own, its metadata, what it does
 * now and the permission mode of its root. Each is found by an index.
 */
export function summaryColumns({ dialect }: Pick<QueryParts, "dialect">) {
  return [
    jsonMembers(dialect, HEAD).as("head"),
    jsonMembers(dialect, TAIL, {
      metadata: metadataText(dialect),
      permission: dialect.jsonText(PERMISSION),
      forked_from: FORKED_FROM,
    }).as("tail"),
    currentRecord(sql<string>`concat('{"n":', n, ',"state":"', state, '"}')`).as("exchange"),
    "exchange_open",
    leaseHolder(dialect),
  ] as const;
}

/**
 * Two engines write an object of pairs with other spaces, but a text as `JSON.stringify` does. Most sessions have no
 * pair, and an aggregate of none takes longer than to look.
 */
function metadataText({ jsonText }: Dialect) {
  const [key, value] = [jsonText(sql.ref("pair.key")), jsonText(sql.ref("pair.value"))];
  return sql<string>`case when (select 1 from session_metadata where session_id = sessions.id limit 1) = 1 then (
    select concat('{', string_agg(concat(${key}, ':', ${value}), ',' order by pair.key), '}')
    from session_metadata as pair where pair.session_id = sessions.id
  ) else '{}' end`;
}

const PERMISSION = sql<string | null>`case
  when agent is not null then null
  when root_session_id = id then permission_mode
  else (select root.permission_mode from sessions as root where root.id = sessions.root_session_id)
end`;

/** An id needs no escapes in JSON. */
const FORKED_FROM = sql<string>`case when forked_from_session_id is null then 'null'
  else concat('{"session_id":"', forked_from_session_id, '","seq":', forked_from_seq, '}')
end`;

/** The JSON of a SessionSummary. */
export function summaryText({ head, tail, exchange, holder, exchange_open }: SummaryRow): string {
  const activity = activityOf(holder, exchange_open === 1);
  return `{${head},"activity":"${activity}",${tail},"exchange":${exchangeText(exchange, activity)}}`;
}

function exchangeText(stored: string | null, activity: Activity): string {
  if (stored === null || activity !== "interrupted") {
    return stored ?? "null";
  }
  const exchange = JSON.parse(stored) as Pick<CurrentExchange, "n" | "state">;
  return JSON.stringify({ ...exchange, state: stateNow(exchange, false) });
}

/** The JSON of the summary of a session. Error codes: `session_not_found`. */
const readSummaryText: Operation<{ readonly id: string }, string> = async (tx, { id }) => {
  const [row] = await tx.rows(summaryById, { id });
  if (row === undefined) {
    throw sessionNotFound();
  }
  return summaryText(row);
};

const summaryById = prepared((parts, given: Parameter<{ readonly id: string }>) =>
  parts.db.selectFrom("sessions").select(summaryColumns(parts)).where("id", "=", given("id")),
);

/** Reads the same with what the session has used, in one statement. Error codes: `session_not_found`. */
export const readSummaryWithUsage: Operation<
  { readonly id: string },
  { readonly summary: string; readonly usage: Usage }
> = async (tx, { id }) => {
  const [row] = await tx.rows(summaryWithUsage, { id });
  if (row === undefined) {
    throw sessionNotFound();
  }
  return { summary: summaryText(row), usage: usageIn(row) };
};

const summaryWithUsage = prepared((parts, given: Parameter<{ readonly id: string }>) =>
  parts.db
    .selectFrom("sessions")
    .leftJoin("model_usage", "model_usage.session_id", "sessions.id")
    .select(summaryColumns(parts))
    .select(USAGE_COLUMNS)
    .where("sessions.id", "=", given("id")),
);

/** A session as the API shows it. Error codes: `session_not_found`. */
export const readSummary: Operation<{ readonly id: string }, SessionSummary> = async (tx, input) =>
  JSON.parse(await readSummaryText(tx, input)) as SessionSummary;

/** The JSON of the summaries of those of these sessions that exist, by id. */
export async function readSummaryTexts(
  tx: Tx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const batch of batches(ids)) {
    const rows = await tx.db
      .selectFrom("sessions")
      .select([...summaryColumns(tx), "id"])
      .where("id", "in", batch)
      .execute();
    for (const row of rows) {
      texts.set(row.id, summaryText(row));
    }
  }
  return texts;
}
