import type { SelectQueryBuilder } from "kysely";

import type { Activity, ListOrder, Session } from "../../../core/sessions.ts";
import { type Parameter, prepared, type PreparedQuery } from "../../prepared.ts";
import { rowsThatFit } from "../messages/stream-page.ts";
import type { Database } from "../../tables/database.ts";
import type { Operation, Tx } from "../../store.ts";
import {
  type FilterValues,
  filterValues,
  type ListFilters,
  OPTIONAL_FILTERS,
  withFilters,
} from "./list-filters.ts";
import { activityOf, selectSessions, sessionOf } from "./rows.ts";
import { summaryColumns, summaryText } from "./summaries.ts";

/** The position after a session in the list: the next page begins there. */
export interface ListPosition {
  /** The session's `last_activity_at` or `created_at`, depending on the order. */
  readonly at: string;
  readonly id: string;
}

export interface ListInput extends ListFilters {
  readonly limit: number;
  /** `activity` by default. */
  readonly order?: ListOrder;
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
  /** Bytes of the page; one session may be larger and then comes alone. No limit by default. */
  readonly max_bytes?: number;
}

/** Lists the page as the JSON that HTTP answers: the database writes it. It has fewer sessions if not all fit. */
export const listSummaries: Operation<SummariesInput, SummariesText> = async (
  tx,
  { max_bytes = Number.POSITIVE_INFINITY, ...input },
) => {
  const { rows, next } = await readPage(tx, summaries, input);
  const texts = rows.map(summaryText);
  const fitting = rowsThatFit(
    texts.map(({ length }) => length),
    { max_rows: texts.length, max_bytes },
  );
  return fitting === texts.length
    ? { json: `[${texts.join(",")}]`, next }
    : {
        json: `[${texts.slice(0, fitting).join(",")}]`,
        next: positionOf(rows[fitting - 1]) ?? null,
      };
};

interface PageRow {
  readonly id: string;
  readonly listed_at: string;
  readonly holder: string | null;
  readonly exchange_open: number;
}

/** Only JavaScript knows which processes were killed, so rows are read until the page is full. */
async function readPage<Row extends PageRow>(
  tx: Tx,
  queries: Readonly<Record<ListOrder, PreparedQuery<PageValues, Row>>>,
  { limit, order = "activity", after, ...filters }: ListInput,
) {
  const { activity } = filters;
  const values = { ...filterValues(filters), rows: limit + 1 };
  let found: readonly Row[] = [];
  for (let from = after, more = true; more && found.length <= limit;) {
    const rows = await tx.rows(
      queries[order],
      from === undefined ? values : { ...values, after_at: from.at, after_id: from.id },
    );
    found =
      activity === undefined ? rows : [...found, ...rows.filter((row) => isIn(row, activity))];
    more = activity !== undefined && rows.length > limit;
    from = positionOf(rows.at(-1));
  }
  const rows = found.slice(0, limit);
  const last = found.length > limit ? positionOf(rows.at(-1)) : undefined;
  return { rows, next: last ?? null };
}

function isIn({ holder, exchange_open }: PageRow, activity: Activity): boolean {
  return activityOf(holder, exchange_open === 1) === activity;
}

function positionOf(row: PageRow | undefined): ListPosition | undefined {
  return row === undefined ? undefined : { at: row.listed_at, id: row.id };
}

interface PageValues extends FilterValues {
  readonly rows: number;
  readonly after_at?: string | undefined;
  readonly after_id?: string | undefined;
}

const OPTIONAL = [...OPTIONAL_FILTERS, "after_id"] as const;

/** Columns by which each order sorts; no two sessions have the same. */
const SORTED = {
  activity: { column: "last_activity_at", direction: "desc", beyond: "<" },
  created: { column: "created_at", direction: "asc", beyond: ">" },
} as const;

const page = { activity: sessionsPage("activity"), created: sessionsPage("created") };
const summaries = { activity: summariesPage("activity"), created: summariesPage("created") };

function sessionsPage(order: ListOrder) {
  return prepared((parts, given: Parameter<PageValues>) => {
    const from = withFilters(selectSessions(parts), parts, given);
    return inOrder(order, from, given);
  }, OPTIONAL);
}

function summariesPage(order: ListOrder) {
  return prepared((parts, given: Parameter<PageValues>) => {
    const columns = [...summaryColumns(parts), "id"] as const;
    const from = withFilters(parts.db.selectFrom("sessions").select(columns), parts, given);
    return inOrder(order, from, given);
  }, OPTIONAL);
}

function inOrder<Row>(
  order: ListOrder,
  from: SelectQueryBuilder<Database, "sessions", Row>,
  given: Parameter<PageValues>,
): SelectQueryBuilder<Database, "sessions", Row & { listed_at: string }> {
  const { column, direction, beyond } = SORTED[order];
  const query = from
    .select(`${column} as listed_at`)
    .orderBy(column, direction)
    .orderBy("id", direction)
    .limit(given("rows"));
  return given.has("after_id")
    ? query.where(({ eb, and, or }) =>
        and([
          eb(column, `${beyond}=`, given("after_at")),
          or([eb(column, beyond, given("after_at")), eb("id", beyond, given("after_id"))]),
        ]),
      )
    : query;
}
