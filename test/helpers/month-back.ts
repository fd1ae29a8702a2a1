import type { Store } from "../../src/store/store.ts";

/** Lets a month pass for what waits in the database. */
export async function monthBack(store: Store): Promise<void> {
  const asked_at = new Date(Date.now() - 30 * 24 * 60 * 60 * 1000).toISOString();
  await store.write(async ({ db }) => {
    await db.updateTable("questions").set({ asked_at }).execute();
    await db.updateTable("exchanges").set({ begun_at: asked_at }).execute();
    await db.updateTable("sessions").set({ lease_expires_at: asked_at }).execute();
  }, null);
}
