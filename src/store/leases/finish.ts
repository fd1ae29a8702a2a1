import { isRepriseError } from "../../core/errors.ts";
import { pruneThread } from "../checkpoints/prune.ts";
import { type PrunedIds, NOTHING_PRUNED } from "../checkpoints/plan-prune.ts";
import type { Operation } from "../store.ts";
import type { Fence } from "./fence.ts";
import { releaseLease } from "./lease.ts";

export interface FinishExchange {
  readonly fence: Fence;
  /** The thread that the exchange was carried out in. */
  readonly thread_id: string;
}

/**
 * Gives back the lease of an exchange that came to its end and folds the exchange's checkpoints
 * into one, in one transaction. The answer is what the fold took away: nothing where the lease is
 * another's by now.
 */
export const finishExchange: Operation<FinishExchange, PrunedIds> = async (tx, input) => {
  const folded = await foldIfHeld(tx, input);
  await releaseLease(tx, { fence: input.fence, finished: true });
  return folded;
};

const foldIfHeld: Operation<FinishExchange, PrunedIds> = async (tx, input) => {
  try {
    return await pruneThread(tx, input);
  } catch (error) {
    if (isRepriseError(error, "lease_lost", "session_ended")) {
      return NOTHING_PRUNED;
    }
    throw error;
  }
};
