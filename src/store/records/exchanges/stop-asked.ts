import { stopHint } from "../../hints.ts";
import type { Fence } from "../leases/fence.ts";
import type { Operation, Tx } from "../../store.ts";

/** Asks the process that runs the exchange to stop it. */
export async function askToStop(
  tx: Tx,
  { id, n }: { readonly id: string; readonly n: number },
): Promise<void> {
  await tx.db
    .updateTable("exchanges")
    .set((eb) => ({ stop_asked_at: tx.dialect.now(), revision: eb("revision", "+", 1) }))
    .where("session_id", "=", id)
    .where("n", "=", n)
    .where("ended_at", "is", null)
    .where("stop_asked_at", "is", null)
    .execute();
  tx.touch(id);
  tx.touch(stopHint(id));
}

/** True if somebody has asked the exchange to stop that runs under this lease. */
export const isStopAsked: Operation<Fence, boolean> = async (tx, { session_id, epoch }) => {
  const row = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("epoch", "=", epoch)
    .where("state", "=", "running")
    .where("stop_asked_at", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
};
