import type { Operation } from "../store.ts";

export interface SessionIds {
  /** Only ids behind this one. */
  readonly after: string;
  readonly limit: number;
}

/** Ids of sessions in ascending order: a walk over all that new activity does not disturb. */
export const readSessionIds: Operation<SessionIds, readonly string[]> = async (tx, input) => {
  const rows = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", ">", input.after)
    .orderBy("id")
    .limit(input.limit)
    .execute();
  return rows.map((row) => row.id);
};
