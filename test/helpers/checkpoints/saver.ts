import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import type { SessionSaver } from "../../../src/langgraph/session-saver.ts";
import type { Fence } from "../../../src/store/records/leases/fence.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDatabase } from "../database.ts";
import { openStoreAt } from "../open-store.ts";
import { leasedStore } from "./leased-store.ts";

export interface TestSaver extends AsyncDisposable {
  readonly saver: SessionSaver;
  readonly store: Store;
  readonly path: string;
}

/** A saver on a separate database that goes away with it. */
export async function openSaver(fence?: () => Fence | null): Promise<TestSaver> {
  const database = await createDatabase();
  const store = await openStoreAt(database.location);
  const saver = createCheckpointSaver(
    fence === undefined ? { store: leasedStore(store) } : { store, fence },
  );
  return {
    saver,
    store,
    path: database.location,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The lease of a separate session, for savers whose writes have to carry one. */
export async function holdSession(store: Store): Promise<Fence> {
  const { id: session_id } = await store.write(createSession, {});
  const owner = thisProcess("test");
  return store.write(takeLease, { session_id, owner, life_ms: 10 * 60_000 });
}
