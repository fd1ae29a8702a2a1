import type { Session, SessionState } from "../../core/sessions.ts";
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
  let query = selectSessions(tx)
    .select("last_activity_at")
    .orderBy("last_activity_at", "desc")
    .orderBy("id", "desc")
    .limit(input.limit + 1);
  if (input.state !== undefined) {
    query = query.where("state", "=", input.state);
  }
  if (input.project_key !== undefined) {
    query = query.where("project_key", "=", input.project_key);
  }
  if (input.parent_session_id !== undefined) {
    query = query.where("parent_session_id", "=", input.parent_session_id);
  }
  const { after } = input;
  if (after !== undefined) {
    query = query.where(({ eb, and, or }) =>
      and([
        eb("last_activity_at", "<=", after.last_activity_at),
        or([eb("last_activity_at", "<", after.last_activity_at), eb("id", "<", after.id)]),
      ]),
    );
  }
  const rows = await query.execute();
  const page = rows.slice(0, input.limit);
  const last = page.at(-1);
  return {
    sessions: page.map(({ last_activity_at: _, ...row }) => sessionOf(row)),
    next:
      rows.length > input.limit && last !== undefined
        ? { last_activity_at: last.last_activity_at, id: last.id }
        : null,
  };
};
