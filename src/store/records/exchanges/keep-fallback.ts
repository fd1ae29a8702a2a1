import { type Fence, holdFence } from "../leases/fence.ts";
import type { Operation } from "../../store.ts";

/** Stores that another model answers for the rest of the exchange under this lease. Error codes: `lease_lost`, `session_ended`. */
export const keepFallback: Operation<
  { readonly fence: Fence; readonly model: string },
  void
> = async (tx, { fence, model }) => {
  await holdFence(tx, fence);
  await tx.db
    .updateTable("exchanges")
    .set((eb) => ({ fallback_model: model, revision: eb("revision", "+", 1) }))
    .where("session_id", "=", fence.session_id)
    .where("epoch", "=", fence.epoch)
    .where("state", "=", "running")
    .execute();
  tx.touch(fence.session_id);
};
