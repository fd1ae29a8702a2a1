import { DAY_MS } from "../../../core/access.ts";
import type { ShareInfo } from "../../../core/schemas/access-schemas.ts";
import { RepriseError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { lockSession } from "../sessions/lock.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../../store.ts";

const COLUMNS = ["id", "created_at", "expires_at", "last_used_at"] as const;

/**
 * Keeps a link that shows one session, and forgets those that have expired.
 *
 * Error codes: as `resolveSession`.
 */
export const addShare: Operation<
  { readonly reference: string; readonly hash: string; readonly days: number },
  ShareInfo & { readonly session_id: string }
> = async (tx, { reference, hash, days }) => {
  const { db, dialect } = tx;
  const { id: session_id } = await resolveSession(tx, { reference });
  // from here on nobody deletes it; the one who did so first is seen by the second read
  await lockSession(tx, session_id);
  await readSession(tx, { id: session_id });
  await db.deleteFrom("session_shares").where("expires_at", "<=", dialect.now()).execute();
  return db
    .insertInto("session_shares")
    .values({
      id: newId(),
      session_id,
      hash,
      created_at: dialect.now(),
      expires_at: dialect.now(days * DAY_MS),
      last_used_at: null,
    })
    .returning([...COLUMNS, "session_id"])
    .executeTakeFirstOrThrow();
};

/** The links of a session that are valid now, the oldest first. Error codes: as `resolveSession`. */
export const listShares: Operation<{ readonly reference: string }, ShareInfo[]> = async (
  tx,
  { reference },
) => {
  const { id } = await resolveSession(tx, { reference });
  return tx.db
    .selectFrom("session_shares")
    .select(COLUMNS)
    .where("session_id", "=", id)
    .where("expires_at", ">", tx.dialect.now())
    .orderBy("created_at")
    .orderBy("id")
    .execute();
};

/**
 * Ends a link of a session, and the logins that came by it.
 *
 * Error codes: as `resolveSession`, `access_not_found`.
 */
export const revokeShare: Operation<
  { readonly reference: string; readonly share: string },
  void
> = async (tx, { reference, share }) => {
  const { id } = await resolveSession(tx, { reference });
  if (!(await deleteShare(tx, { id: share, session_id: id }))) {
    throw shareNotFound();
  }
};

/** True if there was one. */
export async function deleteShare(
  { db }: Tx,
  { id, session_id }: { readonly id: string; readonly session_id?: string },
): Promise<boolean> {
  const deleted = await db
    .deleteFrom("session_shares")
    .where("id", "=", id)
    .$if(session_id !== undefined, (query) => query.where("session_id", "=", session_id ?? ""))
    .returning("id")
    .execute();
  return deleted.length > 0;
}

export function shareNotFound(): RepriseError {
  return new RepriseError(
    "access_not_found",
    "No link of this session has this id; list its links to see their ids.",
  );
}
