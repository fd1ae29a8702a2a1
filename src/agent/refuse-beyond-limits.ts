import type { RepriseError } from "../core/errors.ts";
import { limitReached, reachedLimit } from "../core/cost/limits.ts";
import type { ExchangeTree } from "../exchange/exchange-tree.ts";
import { readLimitUse } from "../store/records/sessions/limits.ts";
import type { LeaseState } from "../store/records/leases/lease.ts";
import type { Store } from "../store/store.ts";

/**
 * What is called before each call of a model. What sub-agents that run at once use in the same moment
 * is counted at the next call; a first limit that is set meanwhile holds from the next exchange on.
 *
 * Error codes: `call_limit_reached`, `budget_reached`, `price_limit_reached`, `database_*`.
 */
export function refuseBeyondLimits(
  store: Store,
  tree: ExchangeTree,
  { session: { id }, is_limited }: LeaseState,
): () => Promise<void> {
  return async () => {
    tree.countModelCall();
    if (!is_limited) {
      return;
    }
    const error = await beyondLimits(store, id);
    if (error !== null) {
      throw tree.end(error);
    }
  };
}

/** Returns the error of a session whose models have used all that they may; null for another one. */
export async function beyondLimits(store: Store, id: string): Promise<RepriseError | null> {
  const use = await store.read(readLimitUse, { id });
  const reached = reachedLimit(use);
  return reached === null ? null : limitReached(reached, use);
}
