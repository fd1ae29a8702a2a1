import { type RawBuilder, sql } from "kysely";

import { MAX_STATS } from "../../../core/limits.ts";
import type { StatsBy } from "../../../core/sessions.ts";
import type { StatInfo } from "../../../core/schemas/stats-schemas.ts";
import type { Operation } from "../../store.ts";
import { summedCalls } from "./read-usage.ts";

export interface ReadStats {
  readonly by: StatsBy;
  /** Only requests that ended then or later; all without it. */
  readonly since?: Date | undefined;
}

/** Expressions of the groups. The root of a session can be cleared by another program. */
const KEYS: Readonly<Record<StatsBy, RawBuilder<string | null>>> = {
  day: sql<string>`substr(model_calls.ts, 1, 10)`,
  session: sql<string>`coalesce(sessions.root_session_id, sessions.id)`,
  folder: sql<string | null>`sessions.repo_path`,
  model: sql<string>`model_calls.model`,
};

/**
 * Sums the requests of all sessions in groups: days from the latest, the others from what cost most. At most `MAX_STATS`.
 * Requests of deleted sessions are gone.
 */
export const readStats: Operation<ReadStats, readonly StatInfo[]> = async (tx, { by, since }) => {
  const rows = await tx.db
    .selectFrom("model_calls")
    .innerJoin("sessions", "sessions.id", "model_calls.session_id")
    .select(KEYS[by].as("key"))
    .select(summedCalls())
    .$if(since !== undefined, (query) =>
      query.where("model_calls.ts", ">=", since?.toISOString() ?? ""),
    )
    .groupBy(KEYS[by])
    .$if(by !== "day", (query) =>
      query
        .orderBy(sql`coalesce(sum(model_calls.price_micros), 0)`, "desc")
        .orderBy(sql`count(*)`, "desc"),
    )
    .orderBy("key", by === "day" ? "desc" : "asc")
    .limit(MAX_STATS)
    .execute();
  const titles = new Map<string | null, string | null>();
  if (by === "session" && rows.length > 0) {
    const ids = rows.map(({ key }) => key ?? "");
    for (const { id, name, title } of await tx.db
      .selectFrom("sessions")
      .select(["id", "name", "title"])
      .where("id", "in", ids)
      .execute()) {
      titles.set(id, name ?? title);
    }
  }
  return rows.map(({ key, calls, unpriced, input, cache_read, output, cost_micros }) => ({
    key,
    title: titles.get(key) ?? null,
    calls,
    input,
    cached: cache_read,
    output,
    cost_micros,
    unknown_calls: unpriced,
  }));
};
