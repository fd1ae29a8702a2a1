import { MAX_UNASKED_DELETIONS, MAX_UNASKED_PART } from "../../../core/limits.ts";
import { batches } from "../../records/threads/bodies.ts";
import type { Operation, ReadOnlyStore } from "../../store.ts";

/** A database in which a sync would delete many sessions, because the other one has deleted them. */
export interface ManyDeletions {
  readonly in: "here" | "there";
  readonly deleted: number;
  /** Sessions that it has, without sub-agents. */
  readonly sessions: number;
}

type Readable = Pick<ReadOnlyStore, "read">;

/** Finds the databases of which a sync would delete more than a person expects unasked. Error codes: `database_*`. */
export async function findManyDeletions(databases: {
  readonly here: Readable;
  readonly there: Readable;
}): Promise<readonly ManyDeletions[]> {
  const { here, there } = databases;
  return [
    { in: "here" as const, ...(await countDeletions(here, there)) },
    { in: "there" as const, ...(await countDeletions(there, here)) },
  ].filter(
    ({ deleted, sessions }) =>
      deleted > MAX_UNASKED_DELETIONS && deleted > sessions * MAX_UNASKED_PART,
  );
}

async function countDeletions(side: Readable, other: Readable) {
  return side.read(countOf, await other.read(readAllDeleted, null));
}

/** The sessions that a database knows to be deleted. Error codes: none. */
const readAllDeleted: Operation<null, readonly string[]> = async ({ db }) => {
  const rows = await db
    .selectFrom("deleted_sessions")
    .leftJoin("sessions", "sessions.id", "deleted_sessions.id")
    .select("deleted_sessions.id")
    .where("sessions.id", "is", null)
    .execute();
  return rows.map(({ id }) => id);
};

/** How many of these sessions a sync would delete; it skips pinned ones. Error codes: none. */
const countOf: Operation<readonly string[], Omit<ManyDeletions, "in">> = async ({ db }, ids) => {
  const roots = db
    .selectFrom("sessions")
    .select(({ fn }) => fn.countAll<number>().as("sessions"))
    .where("parent_session_id", "is", null);
  let deleted = 0;
  for (const batch of batches(ids)) {
    const { sessions } = await roots
      .where("id", "in", batch)
      .where("pinned_at", "is", null)
      .executeTakeFirstOrThrow();
    deleted += sessions;
  }
  const { sessions } = await roots.executeTakeFirstOrThrow();
  return { deleted, sessions };
};
