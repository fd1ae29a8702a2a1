import type { Operation } from "../../store.ts";

/** Returns those of these sessions that have an exchange in the queue. Error codes: none. */
export const readQueued: Operation<
  { readonly ids: readonly string[] },
  ReadonlySet<string>
> = async (tx, { ids }) => {
  const rows = await tx.db
    .selectFrom("exchanges")
    .select("session_id")
    .distinct()
    .where("state", "=", "queued")
    .where("session_id", "in", ids)
    .execute();
  return new Set(rows.map(({ session_id }) => session_id));
};
