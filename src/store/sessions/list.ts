import type { Session, SessionState } from "../../core/sessions.ts";
import { type Given, prepared } from "../prepared.ts";
import type { Operation } from "../store.ts";
import { selectSessions, sessionOf } from "./rows.ts";

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
  const { limit, after, ...filters } = input;
  const rows = await tx.rows(page, {
    ...filters,
    rows: limit + 1,
    after_activity: after?.last_activity_at,
    after_id: after?.id,
  });
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

interface PageValues extends Omit<ListInput, "limit" | "after"> {
  readonly rows: number;
  readonly after_activity: string | undefined;
  readonly after_id: string | undefined;
}

const page = prepared(
  (parts, given: Given<PageValues>) => {
    let query = selectSessions(parts)
      .orderBy("last_activity_at", "desc")
      .orderBy("id", "desc")
      .limit(given("rows"));
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
  },
  ["state", "project_key", "parent_session_id", "after_id"],
);
