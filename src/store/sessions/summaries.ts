import { sql } from "kysely";

import type { ExchangeState } from "../../core/exchanges.ts";
import type { SessionSummary } from "../../core/schemas.ts";
import { SESSION_FIELDS } from "../../core/sessions.ts";
import { batches } from "../checkpoints/bodies.ts";
import { jsonColumns } from "../columns.ts";
import type { Dialect } from "../engines/dialect.ts";
import { type Parameter, prepared, type QueryParts } from "../engines/prepared.ts";
import { currentRecord } from "../exchanges/current.ts";
import { stateNow } from "../exchanges/read.ts";
import { jsonMembers } from "../sql-json.ts";
import type { Operation, Tx } from "../store.ts";
import { sessionNotFound } from "./read.ts";
import { activityOf, leaseHolder } from "./rows.ts";

/** What a summary has before and after `activity`, which the database does not know. */
const { id, state, activity: _, ...rest } = SESSION_FIELDS;
const HEAD = jsonColumns({ id, state });
const TAIL = jsonColumns(rest);

interface SummaryRow {
  readonly head: string;
  readonly tail: string;
  readonly metadata: string;
  /** The number and the state of what the session does now; null if it has no exchange. */
  readonly current: string | null;
  readonly permission: string | null;
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
    jsonMembers(dialect, TAIL).as("tail"),
    metadataText(dialect).as("metadata"),
    currentRecord(sql<string>`concat(n, ' ', state)`).as("current"),
    PERMISSION.as("permission"),
    "exchange_open",
    leaseHolder(dialect),
  ] as const;
}

/** Two engines write an object of pairs with other spaces, but a text as `JSON.stringify` does. */
function metadataText({ jsonText }: Dialect) {
  const [key, value] = [jsonText(sql.ref("pair.key")), jsonText(sql.ref("pair.value"))];
  return sql<string>`(
    select concat('{', string_agg(concat(${key}, ':', ${value}), ',' order by pair.key), '}')
    from session_metadata as pair where pair.session_id = sessions.id
  )`;
}

const PERMISSION = sql<string | null>`case when agent is null then (
  select root.permission_mode from sessions as root where root.id = sessions.root_session_id
) end`;

/** The JSON of a SessionSummary. */
export function summaryText(row: SummaryRow): string {
  const { head, tail, metadata, permission, holder, exchange_open } = row;
  const activity = activityOf(holder, exchange_open === 1);
  const exchange = exchangeText(row.current, activity === "running");
  const others = `"metadata":${metadata},"exchange":${exchange},"permission":${JSON.stringify(permission)}`;
  return `{${head},"activity":"${activity}",${tail},${others}}`;
}

function exchangeText(current: string | null, isRun: boolean): string {
  if (current === null) {
    return "null";
  }
  const [n = "", state = ""] = current.split(" ");
  return `{"n":${n},"state":"${stateNow({ state: state as ExchangeState }, isRun)}"}`;
}

/** The JSON of the summary of a session. Error codes: `session_not_found`. */
export const readSummaryText: Operation<{ readonly id: string }, string> = async (tx, { id }) => {
  const [row] = await tx.rows(summaryById, { id });
  if (row === undefined) {
    throw sessionNotFound();
  }
  return summaryText(row);
};

const summaryById = prepared((parts, given: Parameter<{ readonly id: string }>) =>
  parts.db.selectFrom("sessions").select(summaryColumns(parts)).where("id", "=", given("id")),
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
