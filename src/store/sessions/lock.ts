import type { Tx } from "../store.ts";

/**
 * Holds a session's row until the transaction ends, where writers do not queue anyway: what is
 * read of it from here on stays as it is until the operation is done. A session that does not
 * exist is no error here.
 */
export async function lockSession(tx: Tx, id: string): Promise<void> {
  if (!tx.dialect.writersQueue) {
    await tx.db
      .selectFrom("sessions")
      .select("id")
      .where("id", "=", id)
      .modifyEnd(tx.dialect.forUpdate)
      .execute();
  }
}
