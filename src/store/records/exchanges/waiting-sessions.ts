import type { Operation } from "../../store.ts";

/** A session whose next exchange waits for a node. */
export interface WaitingSession {
  readonly id: string;
  /** Its name, else its title; null if it has neither. */
  readonly title: string | null;
  readonly repo_path: string | null;
  /** Since when, as ISO 8601 in UTC. */
  readonly ready_at: string;
}

/** The sessions that wait for a node, the one that waits longest first. */
export const readWaitingSessions: Operation<
  { readonly limit: number },
  readonly WaitingSession[]
> = async ({ db, dialect }, { limit }) =>
  db
    .selectFrom("sessions")
    .select(({ fn, ref }) => [
      "id",
      fn.coalesce("name", "title").as("title"),
      "repo_path",
      ref("ready_at").$notNull().as("ready_at"),
    ])
    .where("ready_at", "<=", dialect.now())
    .orderBy("ready_at")
    .orderBy("id")
    .limit(limit)
    .execute();
