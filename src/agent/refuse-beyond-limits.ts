import type { RepriseError } from "../core/errors.ts";
import { answerUnpriced, limitReached, reachedLimit } from "../core/cost/limits.ts";
import type { ExchangeTree } from "../exchange/exchange-tree.ts";
import type { CallLedger } from "./call-ledger.ts";
import { readLimitUse } from "../store/records/sessions/limits.ts";
import type { LeaseState } from "../store/records/leases/lease.ts";
import type { Store } from "../store/store.ts";

interface Limited {
  readonly store: Store;
  readonly tree: ExchangeTree;
  readonly calls: Pick<CallLedger, "unpriced">;
  readonly state: LeaseState;
}

/**
 * What is called before each call of a model. What sub-agents that run at once use in the same moment
 * is counted at the next call; a first limit that is set meanwhile holds from the next exchange on.
 *
 * Error codes: `call_limit_reached`, `budget_reached`, `price_limit_reached`, `price_unknown`, `database_*`.
 */
export function refuseBeyondLimits({ store, tree, calls, state }: Limited): () => Promise<void> {
  return async () => {
    tree.countModelCall();
    if (!state.is_limited) {
      return;
    }
    const error =
      tree.ending() ??
      unpricedAnswer(state, calls) ??
      (await beyondLimits(store, state.session.id));
    if (error !== null) {
      throw tree.end(error);
    }
  };
}

/** Returns the error of an exchange with an answer whose price is unknown; null if there is none, or no limit of the price. */
export function unpricedAnswer(
  { is_price_limited }: Pick<LeaseState, "is_price_limited">,
  { unpriced }: Pick<CallLedger, "unpriced">,
): RepriseError | null {
  return is_price_limited && unpriced !== null ? answerUnpriced(unpriced) : null;
}

/** Returns the error of a session whose models have used all that they may; null for another one. */
export async function beyondLimits(store: Store, id: string): Promise<RepriseError | null> {
  const use = await store.read(readLimitUse, { id });
  const reached = reachedLimit(use);
  return reached === null ? null : limitReached(reached, use);
}
