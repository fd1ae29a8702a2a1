import type { CallRecord } from "../../../src/core/cost/model-calls.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { storeCallsAlone } from "../../../src/store/records/model-calls/store-calls.ts";
import type { Store } from "../../../src/store/store.ts";
import { newSession, owner } from "../engines.ts";

/** The requests of a session that are stored, in their order. */
export function callsOf(store: Pick<Store, "read">, session_id: string) {
  return store.read(
    ({ db }) =>
      db
        .selectFrom("model_calls")
        .selectAll()
        .where("session_id", "=", session_id)
        .orderBy("n")
        .orderBy("epoch")
        .orderBy("call")
        .execute(),
    null,
  );
}

/** A request that was answered, and cost something. */
export const PRICED_CALL: CallRecord = {
  model: "anthropic:claude-sonnet-5-5",
  input: 1000,
  cache_read: 600,
  cache_write_5m: 100,
  cache_write_1h: 0,
  output: 50,
  reasoning: 20,
  price_micros: 1234,
  price_table: "2026-11-26",
  ended: "whole",
};

/** A session with requests that ended at a time. */
export async function sessionWithCalls(
  store: Store,
  {
    calls,
    ts,
    name: named,
    ...session
  }: {
    readonly calls: readonly CallRecord[];
    readonly ts: string;
    readonly name?: string | null;
    readonly repo_path?: string;
    readonly parent_session_id?: string;
  },
): Promise<string> {
  const { id } = await newSession(store, session);
  const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
  const numbered = calls.map((call, index) => ({ ...call, call: index + 1 }));
  await store.write(storeCallsAlone, { fence, n: 0, calls: numbered });
  const name = named ?? null;
  await store.write(async ({ db }) => {
    await db.updateTable("model_calls").set({ ts }).where("session_id", "=", id).execute();
    await db.updateTable("sessions").set({ name }).where("id", "=", id).execute();
  }, null);
  return id;
}
