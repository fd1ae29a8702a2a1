import type { CallRecord } from "../../../src/core/cost/model-calls.ts";
import type { Store } from "../../../src/store/store.ts";

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
