import { parseThreadId } from "../../../src/core/threads.ts";
import type { FencedThread } from "../../../src/store/checkpoints/threads.ts";
import type { Fence } from "../../../src/store/records/leases/fence.ts";
import type { Operation, Store, Tx } from "../../../src/store/store.ts";

/**
 * A store for savers of a test that write to threads of sessions: each write has the session's
 * lease, which is as it was afterwards.
 */
export function leasedStore(store: Store): Store {
  return {
    ...store,
    write: (operation, input) =>
      isUnfenced(input) ? store.write(withLease(operation), input) : store.write(operation, input),
  };
}

function isUnfenced(input: unknown): input is FencedThread {
  return (
    typeof input === "object" &&
    input !== null &&
    "thread_id" in input &&
    Reflect.get(input, "fence") === null
  );
}

function withLease<Input, Output>(
  operation: Operation<Input, Output>,
): Operation<Input & FencedThread, Output> {
  return async (tx, input) => {
    const fence = await fenceOf(tx, parseThreadId(input.thread_id)?.sessionId);
    if (fence === null) {
      return operation(tx, input);
    }
    const set = (lease_owner: string | null) =>
      tx.db
        .updateTable("sessions")
        .set({ lease_owner })
        .where("id", "=", fence.session_id)
        .execute();
    const { owner, ...held } = fence;
    await set(owner ?? "{}");
    const output = await operation(tx, { ...input, fence: held });
    await set(owner);
    return output;
  };
}

/** Null for a thread without a session. */
async function fenceOf(
  { db }: Tx,
  id: string | undefined,
): Promise<(Fence & { readonly owner: string | null }) | null> {
  const row = await db
    .selectFrom("sessions")
    .select(["lease_epoch", "lease_owner"])
    .where("id", "=", id ?? "")
    .executeTakeFirst();
  return row === undefined
    ? null
    : { session_id: id ?? "", epoch: row.lease_epoch, owner: row.lease_owner };
}
