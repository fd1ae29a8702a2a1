import { type SelectQueryBuilder, sql } from "kysely";

import type { Activity, SessionState } from "../../../core/sessions.ts";
import type { Parameter, QueryParts } from "../../prepared.ts";
import type { Database } from "../../tables/database.ts";

/** Which sessions a list has; what is left out does not matter. */
export interface ListFilters {
  readonly state?: SessionState;
  readonly project_key?: string;
  readonly project_id?: string;
  readonly parent_session_id?: string;
  /** The origin of forks. */
  readonly forked_from_session_id?: string;
  /** True for sessions without a parent. */
  readonly roots?: boolean;
  readonly activity?: Activity;
  /** The project key of a folder, besides `project_key`. */
  readonly folder_key?: string;
  /** The beginning of the name or the title, in any case. */
  readonly title?: string;
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly metadata?: { readonly key: string; readonly value: string };
  /** The earliest last activity. */
  readonly since?: string;
}

/** The filters as values of a prepared query: each that is there adds a condition. */
export interface FilterValues {
  readonly state?: SessionState | undefined;
  readonly project_key?: string | undefined;
  readonly project_id?: string | undefined;
  readonly folder_key?: string | undefined;
  readonly parent_session_id?: string | undefined;
  readonly forked_from_session_id?: string | undefined;
  readonly roots?: true | undefined;
  readonly archived?: true | undefined;
  readonly unarchived?: true | undefined;
  readonly pinned?: true | undefined;
  readonly unpinned?: true | undefined;
  /** An exchange is open; or one is open, or a process holds the session; or none is open. */
  readonly interrupted?: true | undefined;
  readonly running?: true | undefined;
  readonly idle?: true | undefined;
  readonly ranges?: readonly TextRange[] | undefined;
  readonly metadata_key?: string | undefined;
  readonly metadata_value?: string | undefined;
  readonly since?: string | undefined;
}

export const OPTIONAL_FILTERS = [
  "state",
  "project_key",
  "project_id",
  "folder_key",
  "parent_session_id",
  "forked_from_session_id",
  "roots",
  "archived",
  "unarchived",
  "pinned",
  "unpinned",
  "interrupted",
  "running",
  "idle",
  "ranges",
  "metadata_key",
  "since",
] as const;

export function filterValues(filters: ListFilters): FilterValues {
  if (Object.keys(filters).length === 0) {
    // most lists: what is not there need not be searched for values
    return {};
  }
  const { activity, archived, pinned, metadata, title, roots, state, since } = filters;
  const { project_key, project_id, folder_key, parent_session_id, forked_from_session_id } =
    filters;
  return {
    state,
    project_key,
    project_id,
    folder_key,
    parent_session_id,
    forked_from_session_id,
    roots: roots === true || undefined,
    archived: archived === true || undefined,
    unarchived: archived === false || undefined,
    pinned: pinned === true || undefined,
    unpinned: pinned === false || undefined,
    interrupted: activity === "interrupted" || undefined,
    running: activity === "running" || undefined,
    idle: activity === "idle" || undefined,
    ranges: title === undefined ? undefined : rangesOf(title),
    metadata_key: metadata?.key,
    metadata_value: metadata?.value,
    since,
  };
}

/** The texts that begin in one way: from this one on, before that one. */
interface TextRange {
  readonly from: string;
  readonly before: string;
}

/** The last code point there is: what begins like a text is before that text and it. */
const LAST = "\u{10ffff}";

/**
 * The indexes know the lower case of A to Z only, so that both engines agree on it. Other letters are
 * searched as they were typed, in lower case, in upper case, and with the first of each word in upper
 * case.
 */
function rangesOf(title: string): TextRange[] {
  const lower = title.toLowerCase();
  const capital = lower.replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());
  const texts = [title, lower, title.toUpperCase(), capital].map((text) =>
    text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  );
  return [...new Set(texts)].map((from) => ({ from, before: `${from}${LAST}` }));
}

const EQUAL = [
  "state",
  "project_key",
  "project_id",
  "parent_session_id",
  "forked_from_session_id",
] as const;

/** The sessions that pass the filters. Those of few sessions are sets, each read from an index. */
export function withFilters<Row>(
  from: SelectQueryBuilder<Database, "sessions", Row>,
  parts: QueryParts,
  given: Parameter<FilterValues>,
): SelectQueryBuilder<Database, "sessions", Row> {
  let query = from;
  for (const filter of EQUAL) {
    if (given.has(filter)) {
      query = query.where(filter, "=", given(filter));
    }
  }
  if (given.has("folder_key")) {
    query = query.where("project_key", "=", given("folder_key"));
  }
  if (given.has("roots")) {
    query = query.where("parent_session_id", "is", null);
  }
  if (given.has("archived")) {
    query = query.where("archived_at", "is not", null);
  }
  if (given.has("unarchived")) {
    query = query.where("archived_at", "is", null);
  }
  if (given.has("pinned")) {
    query = query.where("pinned_at", "is not", null);
  }
  if (given.has("unpinned")) {
    query = query.where("pinned_at", "is", null);
  }
  if (given.has("interrupted")) {
    query = query.where("exchange_open", "=", sql.lit(1));
  }
  if (given.has("idle")) {
    query = query.where("exchange_open", "=", sql.lit(0));
  }
  if (given.has("since")) {
    query = query.where("last_activity_at", ">=", given("since"));
  }
  for (const set of setsOf(parts, given)) {
    query = query.where("id", "in", set);
  }
  return query;
}

function setsOf({ db, dialect }: QueryParts, given: Parameter<FilterValues>) {
  const sets = [];
  if (given.has("running")) {
    sets.push(
      db
        .selectFrom("sessions")
        .select("id")
        .where("exchange_open", "=", sql.lit(1))
        .union(db.selectFrom("sessions").select("id").where("lease_owner", "is not", null)),
    );
  }
  if (given.has("ranges")) {
    const [first, ...others] = given.rows("ranges").flatMap(({ from, before }) =>
      (["name", "title"] as const).map((column) => {
        const text = sql<string>`${sql.raw(dialect.column.lowerCase(column))}`;
        return db
          .selectFrom("sessions")
          .select("id")
          .where(column, "is not", null)
          .where(text, ">=", from)
          .where(text, "<", before);
      }),
    );
    if (first !== undefined) {
      sets.push(others.reduce((all, other) => all.union(other), first));
    }
  }
  if (given.has("metadata_key")) {
    sets.push(
      db
        .selectFrom("session_metadata")
        .select("session_id as id")
        .where("key", "=", given("metadata_key"))
        .where("value", "=", given("metadata_value")),
    );
  }
  return sets;
}
