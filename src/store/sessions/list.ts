import type { SelectQueryBuilder } from "kysely";

import type { Include } from "../../core/labels.ts";
import type { ListOrder, Session, SessionState } from "../../core/sessions.ts";
import { type Parameter, prepared, type PreparedQuery } from "../engines/prepared.ts";
import type { Database } from "../schema.ts";
import type { Operation, Tx } from "../store.ts";
import { members, readIncluded } from "./included.ts";
import { selectSessions, sessionOf, summaryColumns, summaryText } from "./rows.ts";

/** The position after a session in the list: the next page begins there. */
export interface ListPosition {
  /** The session's `last_activity_at` or `created_at`, depending on the order. */
  readonly at: string;
  readonly id: string;
}

export interface ListInput {
  readonly limit: number;
  /** `activity` by default. */
  readonly order?: ListOrder;
  readonly state?: SessionState;
  readonly project_key?: string;
  readonly parent_session_id?: string;
  /** A position from a page of the same order. */
  readonly after?: ListPosition;
}

export interface StoredSessionPage {
  readonly sessions: readonly Session[];
  /** Where the next page begins; null on the last one. */
  readonly next: ListPosition | null;
}

/** Sessions in the order asked for; equal times are ordered by id. */
export const listSessions: Operation<ListInput, StoredSessionPage> = async (tx, input) => {
  const { rows, next } = await readPage(tx, page, input);
  return { sessions: rows.map(sessionOf), next };
};

export interface SummariesText extends Pick<StoredSessionPage, "next"> {
  /** A JSON array of SessionSummary. */
  readonly json: string;
}

export interface SummariesInput extends ListInput {
  /** Adds what each session does now, or its labels. */
  readonly include?: Include;
}

/** The same page as the JSON that HTTP answers: the database writes it. */
export const listSummaries: Operation<SummariesInput, SummariesText> = async (
  tx,
  { include, ...input },
) => {
  const { rows, next } = await readPage(tx, summaries, input);
  const ids = rows.map(({ id }) => id);
  const more = include === undefined ? null : await readIncluded(tx, ids, include);
  const texts = rows.map((row) => {
    const text = summaryText(row);
    return more === null ? text : `${text.slice(0, -1)}${members(more.get(row.id) ?? {})}}`;
  });
  return { json: `[${texts.join(",")}]`, next };
};

async function readPage<Row extends { readonly id: string; readonly listed_at: string }>(
  tx: Tx,
  queries: Readonly<Record<ListOrder, PreparedQuery<PageValues, Row>>>,
  { limit, order = "activity", after, ...filters }: ListInput,
) {
  const values = { ...filters, rows: limit + 1, after_at: after?.at, after_id: after?.id };
  const found = await tx.rows(queries[order], values);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : { at: last.listed_at, id: last.id } };
}

interface PageValues extends Omit<ListInput, "limit" | "after" | "order"> {
  readonly rows: number;
  readonly after_at: string | undefined;
  readonly after_id: string | undefined;
}

const OPTIONAL = ["state", "project_key", "parent_session_id", "after_id"] as const;

/** What each order sorts by; no session has two of it. */
const SORTED = {
  activity: { column: "last_activity_at", direction: "desc", beyond: "<" },
  created: { column: "created_at", direction: "asc", beyond: ">" },
} as const;

const page = { activity: sessionsPage("activity"), created: sessionsPage("created") };
const summaries = { activity: summariesPage("activity"), created: summariesPage("created") };

function sessionsPage(order: ListOrder) {
  return prepared(
    (parts, given: Parameter<PageValues>) => inOrder(order, selectSessions(parts), given),
    OPTIONAL,
  );
}

function summariesPage(order: ListOrder) {
  return prepared((parts, given: Parameter<PageValues>) => {
    const columns = [...summaryColumns(parts), "id"] as const;
    return inOrder(order, parts.db.selectFrom("sessions").select(columns), given);
  }, OPTIONAL);
}

function inOrder<Row>(
  order: ListOrder,
  from: SelectQueryBuilder<Database, "sessions", Row>,
  given: Parameter<PageValues>,
): SelectQueryBuilder<Database, "sessions", Row & { listed_at: string }> {
  const { column, direction, beyond } = SORTED[order];
  let query = from
    .select(`${column} as listed_at`)
    .orderBy(column, direction)
    .orderBy("id", direction)
    .limit(given("rows"));
  for (const filter of ["state", "project_key", "parent_session_id"] as const) {
    if (given.has(filter)) {
      query = query.where(filter, "=", given(filter));
    }
  }
  if (given.has("after_id")) {
    query = query.where(({ eb, and, or }) =>
      and([
        eb(column, `${beyond}=`, given("after_at")),
        or([eb(column, beyond, given("after_at")), eb("id", beyond, given("after_id"))]),
      ]),
    );
  }
  return query;
}
