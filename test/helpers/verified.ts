import { expect } from "vitest";

import { verifySession } from "../../src/store/verify/verify-session.ts";
import { openStoreAt } from "./open-store.ts";

/** Expects that `sessions verify` finds nothing in a session. */
export async function expectVerified(database: string, id: string): Promise<void> {
  await using store = await openStoreAt(database);
  expect((await verifySession(store, id)).findings).toEqual([]);
}
