import { join } from "node:path";

import { createCheckpointSaver, type SessionSaver } from "../../../src/agent/checkpoints/saver.ts";
import type { Fence } from "../../../src/store/leases/fence.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { makeFolder } from "../../helpers/temp.ts";

export interface TestSaver extends AsyncDisposable {
  readonly saver: SessionSaver;
  readonly store: Store;
  readonly path: string;
}

/** A saver on a database of its own, in a folder that goes away with it. */
export async function openSaver(fence?: () => Fence | null): Promise<TestSaver> {
  const folder = makeFolder();
  const path = join(folder.path, "store.db");
  const store = await openSqliteStore({ path });
  const saver = createCheckpointSaver(fence === undefined ? { store } : { store, fence });
  return {
    saver,
    store,
    path,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}
