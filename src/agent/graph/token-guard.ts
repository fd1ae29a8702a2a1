import { BaseCallbackHandler } from "@langchain/core/callbacks/base";

import type { Store } from "../../store/store.ts";
import { beyondLimits } from "../refuse-beyond-limits.ts";

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
  readonly #id: string;
  readonly #stop = new AbortController();

  constructor(store: Store, session_id: string, isLimited: boolean) {
    super();
    this.ignoreLLM = !isLimited;
    this.#store = store;
    this.#id = session_id;
  }

  /** Aborted with `budget_reached` as its reason once no model may be called any more. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  override async handleChatModelStart(): Promise<void> {
    await this.#check();
  }

  override async handleLLMStart(): Promise<void> {
    await this.#check();
  }

  async #check(): Promise<void> {
    const error = await beyondLimits(this.#store, this.#id);
    if (error !== null) {
      this.#stop.abort(error);
    }
  }
}
