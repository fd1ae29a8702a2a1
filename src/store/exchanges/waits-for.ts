import { firstOpenQuestion } from "../questions/read.ts";
import type { Operation } from "../store.ts";

/**
 * What the exchange of a session waits for that has begun and not ended: a node, which runs it now or continues
 * it, or a person who is asked. Null if there is none, or if only the process that runs it continues it.
 */
export const waitsFor: Operation<
  { readonly session_id: string },
  "node" | "person" | null
> = async (tx, { session_id }) => {
  const begun = await tx.db
    .selectFrom("exchanges")
    .select(["state", "queued_at"])
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("begun_at", "is not", null)
    .executeTakeFirst();
  if (begun?.state === "waiting") {
    return (await firstOpenQuestion(tx, session_id)) === null ? null : "person";
  }
  return begun === undefined || begun.queued_at === null ? null : "node";
};
