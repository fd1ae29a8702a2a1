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
