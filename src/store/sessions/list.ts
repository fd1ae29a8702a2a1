import type { SelectQueryBuilder } from "kysely";

import type { Session, SessionState } from "../../core/sessions.ts";
import { type Given, prepared } from "../prepared.ts";
import type { Database } from "../schema.ts";
import type { Operation } from "../store.ts";
import { selectSessions, sessionOf, summaryColumns, summaryText } from "./rows.ts";

/** The place after a session in the list: the page that follows begins there. */
export interface ListPosition {
  readonly last_activity_at: string;
  readonly id: string;
}

export interface ListInput {
  readonly limit: number;
  readonly state?: SessionState;
  readonly project_key?: string;
  readonly parent_session_id?: string;
  readonly after?: ListPosition;
}

export interface SessionPage {
  readonly sessions: readonly Session[];
  /** Where the next page begins; null on the last one. */
  readonly next: ListPosition | null;
}

/** Sessions by latest activity, then by id, both descending; each session is on one page only. */
export const listSessions: Operation<ListInput, SessionPage> = async (tx, input) => {
  const { limit } = input;
  const rows = await tx.rows(page, valuesOf(input));
  const sessions = rows.slice(0, limit).map(sessionOf);
  const last = sessions.at(-1);
  return {
    sessions,
    next:
      rows.length > limit && last !== undefined
        ? { last_activity_at: last.last_message_at ?? last.created_at, id: last.id }
        : null,
  };
};

export interface SummariesText {
  /** A JSON array of SessionSummary. */
  readonly json: string;
  /** Where the next page begins; null on the last one. */
  readonly next: ListPosition | null;
}

/** The same page as the JSON that HTTP answers: the database writes it. */
export const listSummaries: Operation<ListInput, SummariesText> = async (tx, input) => {
  const { limit } = input;
  const rows = await tx.rows(summaries, valuesOf(input));
  const last = rows[limit - 1];
  return {
    json: `[${rows.slice(0, limit).map(summaryText).join(",")}]`,
    next:
      rows.length > limit && last !== undefined
        ? { last_activity_at: last.last_activity_at, id: last.id }
        : null,
  };
};

function valuesOf({ limit, after, ...filters }: ListInput): PageValues {
  return {
    ...filters,
    rows: limit + 1,
    after_activity: after?.last_activity_at,
    after_id: after?.id,
  };
}

interface PageValues extends Omit<ListInput, "limit" | "after"> {
  readonly rows: number;
  readonly after_activity: string | undefined;
  readonly after_id: string | undefined;
}

const OPTIONAL = ["state", "project_key", "parent_session_id", "after_id"] as const;

const page = prepared(
  (parts, given: Given<PageValues>) => inOrder(selectSessions(parts), given),
  OPTIONAL,
);

const summaries = prepared((parts, given: Given<PageValues>) => {
  const columns = [...summaryColumns(parts), "last_activity_at", "id"] as const;
  return inOrder(parts.db.selectFrom("sessions").select(columns), given);
}, OPTIONAL);

function inOrder<Row>(
  from: SelectQueryBuilder<Database, "sessions", Row>,
  given: Given<PageValues>,
): SelectQueryBuilder<Database, "sessions", Row> {
  let query = from.orderBy("last_activity_at", "desc").orderBy("id", "desc").limit(given("rows"));
  for (const filter of ["state", "project_key", "parent_session_id"] as const) {
    if (given.has(filter)) {
      query = query.where(filter, "=", given(filter));
    }
  }
  if (given.has("after_id")) {
    query = query.where(({ eb, and, or }) =>
      and([
        eb("last_activity_at", "<=", given("after_activity")),
        or([
          eb("last_activity_at", "<", given("after_activity")),
          eb("id", "<", given("after_id")),
        ]),
      ]),
    );
  }
  return query;
}
