import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { createCheckpointSaver } from "../../../src/agent/checkpoints/saver.ts";
import type { Fence } from "../../../src/store/leases/fence.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";

export interface TestSaver extends AsyncDisposable {
  readonly saver: BaseCheckpointSaver;
  readonly store: Store;
  readonly path: string;
}

/** A saver on a database of its own, in a folder that goes away with it. */
export async function openSaver(fence?: () => Fence | null): Promise<TestSaver> {
  const folder = await mkdtemp(join(tmpdir(), "reprise-checkpoints-"));
  const path = join(folder, "store.db");
  const store = await openSqliteStore({ path });
  const saver = createCheckpointSaver(fence === undefined ? { store } : { store, fence });
  return {
    saver,
    store,
    path,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}
