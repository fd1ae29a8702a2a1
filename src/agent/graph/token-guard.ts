import { BaseCallbackHandler } from "@langchain/core/callbacks/base";

import { priceUnknown } from "../../core/cost/limits.ts";
import type { RepriseError } from "../../core/errors.ts";
import type { LeaseState } from "../../store/records/leases/lease.ts";
import type { Store } from "../../store/store.ts";
import type { CallLedger } from "../call-ledger.ts";
import type { CallbackParameters } from "../messages/token-stream.ts";
import { calledModel } from "./graph-calls.ts";
import { beyondLimits, unpricedAnswer } from "../refuse-beyond-limits.ts";

/**
 * Ends a graph before it calls a model beyond the limits of its session. It aborts the graph: an
 * error of a handler would be printed by LangChain, and could be caught by a node.
 */
export class TokenGuard extends BaseCallbackHandler {
  readonly name = "reprise_token_guard";
  override awaitHandlers = true;
  override ignoreLLM: boolean;
  override ignoreAgent = true;
  override ignoreChain = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  readonly #store: Store;
  readonly #calls: Pick<CallLedger, "flush" | "unpriced">;
  readonly #state: LeaseState;
  readonly #stop = new AbortController();

  constructor(store: Store, calls: Pick<CallLedger, "flush" | "unpriced">, state: LeaseState) {
    super();
    this.ignoreLLM = !state.is_limited;
    this.#store = store;
    this.#calls = calls;
    this.#state = state;
  }

  /** Aborted with `budget_reached`, `price_limit_reached` or `price_unknown` as its reason once no model may be called any more. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  override async handleChatModelStart(
    ...[, , , , , , metadata]: CallbackParameters<"handleChatModelStart">
  ): Promise<void> {
    const { name, facts } = calledModel(metadata);
    const isUnpriced = this.#state.is_price_limited && facts.price === null;
    await this.#check(isUnpriced ? priceUnknown(name) : null);
  }

  override async handleLLMStart(): Promise<void> {
    await this.#check();
  }

  async #check(refusal: RepriseError | null = null): Promise<void> {
    // the limits count what is stored
    await this.#calls.flush();
    const error =
      refusal ??
      unpricedAnswer(this.#state, this.#calls) ??
      (await beyondLimits(this.#store, this.#state.session.id));
    if (error !== null) {
      this.#stop.abort(error);
    }
  }
}
