import { setTimeout as sleep } from "node:timers/promises";

import { sql } from "kysely";

import { readLease } from "../../../src/store/records/leases/lease.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Running } from "../process.ts";
import { TABLES } from "../sessions/stored.ts";

/** Stopped inside a transaction, a process would rightly hold up everybody else for a while. */
export async function stopBetweenWrites({ child }: Running, store: Store): Promise<void> {
  for (;;) {
    child.kill("SIGSTOP");
    await sleep(10);
    const { rows } = await store.read(
      (tx) =>
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
          AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`.execute(tx.db),
      null,
    );
    if (rows.length === 0) {
      return;
    }
    child.kill("SIGCONT");
    await sleep(10);
  }
}

/** Resolves once nobody holds the session, by the database's clock. */
export async function leaseIsOver(store: Store, id: string): Promise<void> {
  while ((await store.read(readLease, { session_id: id })) !== null) {
    await sleep(10);
  }
}

/** Every row of every table. */
export function everything(store: Store): Promise<Record<string, readonly unknown[]>> {
  return store.read(async ({ db }) => {
    const tables: Record<string, readonly unknown[]> = {};
    for (const table of TABLES) {
      const rows = await db.selectFrom(table).selectAll().execute();
      tables[table] = rows.map((row) => JSON.stringify(row)).toSorted();
    }
    return tables;
  }, null);
}
