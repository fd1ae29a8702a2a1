import type { Tx } from "../../store.ts";

/**
 * Locks the session's row until the transaction ends, if the session exists. Does nothing on
 * SQLite, where only one transaction writes at a time.
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
