import type { Tx } from "../../store.ts";

/**
 * Locks the session's row until the transaction ends, if the session exists. Does nothing on
 * SQLite, where only one transaction writes at a time.
 */
export async function lockSession(tx: Tx, id: string): Promise<void> {
  if (!tx.dialect.writersQueue) {
    const row = tx.db.selectFrom("sessions").select("id").where("id", "=", id);
    const held = await row.modifyEnd(tx.dialect.forUpdate).execute();
    if (held.length === 0 && (await row.execute()).length > 0) {
      // a sync stored it again while this waited for the row of before
      await lockSession(tx, id);
    }
  }
}
