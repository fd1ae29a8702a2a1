import { reachedLimit } from "../core/token-limits.ts";
import type { ExchangeTree } from "../exchange/exchange-tree.ts";
import { readTokenUse } from "../store/sessions/token-limits.ts";
import type { Store } from "../store/store.ts";

/**
 * Called before each call of a model. What sub-agents that run at once use in the same moment is
 * counted at the next call.
 *
 * Error codes: `call_limit_reached`, `budget_reached`, `database_*`.
 */
export async function refuseBeyondLimits(
  store: Store,
  tree: ExchangeTree,
  session_id: string,
): Promise<void> {
  tree.countModelCall();
  const reached = reachedLimit(await store.read(readTokenUse, { id: session_id }));
  if (reached !== null) {
    throw tree.end(reached);
  }
}
