import { DELETIONS_KNOWN_MS } from "../../../core/limits.ts";
import type { Tx } from "../../store.ts";

/**
 * Forgets deletions that are older than `DELETIONS_KNOWN_MS`, except for the last of them: it says how far back the
 * others are known. Costs two rows if there are none.
 */
export async function forgetDeletions({ db, dialect }: Tx): Promise<void> {
  const [, second] = await db
    .selectFrom("deleted_sessions")
    .select(["changed"])
    .select(({ eb }) => eb("deleted_at", "<", dialect.now(-DELETIONS_KNOWN_MS)).as("is_old"))
    .orderBy("changed")
    .limit(2)
    .execute();
  if (second?.is_old) {
    await db
      .deleteFrom("deleted_sessions")
      .where("changed", "<", ({ selectFrom, fn }) =>
        selectFrom("deleted_sessions")
          .select(fn.max("changed").as("last"))
          .where("deleted_at", "<", dialect.now(-DELETIONS_KNOWN_MS)),
      )
      .execute();
  }
}
