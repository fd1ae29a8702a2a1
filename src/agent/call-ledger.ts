import { isRepriseError } from "../core/errors.ts";
import type { CallRecord } from "../core/cost/model-calls.ts";
import type { PendingCalls } from "../langgraph/session-saver.ts";
import type { Fence } from "../store/records/leases/fence.ts";
import {
  type NewCalls,
  type NumberedCall,
  storeCallsAlone,
} from "../store/records/model-calls/store-calls.ts";
import type { Store } from "../store/store.ts";

interface LedgerInput {
  readonly store: Pick<Store, "write">;
  readonly fence: Fence;
  /** Number of the exchange; 0 outside of any. */
  readonly n: () => number;
}

/**
 * Keeps the requests of one lease until they are stored: with the next checkpoint, which has the answer, or alone if
 * there is none.
 */
export class CallLedger implements PendingCalls {
  readonly #input: LedgerInput;
  #calls: readonly NumberedCall[] = [];
  /** Requests that a write has taken. */
  #taken: readonly NumberedCall[] = [];
  #count = 0;
  #unpriced: string | null = null;

  constructor(input: LedgerInput) {
    this.#input = input;
  }

  /** The model whose answer has no known price; null if there is none. Answers that failed or were stopped do not count. */
  get unpriced(): string | null {
    return this.#unpriced;
  }

  add(call: CallRecord): void {
    this.#count += 1;
    if (call.price_micros === null && call.ended !== "failed" && call.ended !== "stopped") {
      this.#unpriced = call.model;
    }
    this.#calls = [...this.#calls, { ...call, call: this.#count }];
  }

  take(): NewCalls | null {
    const calls = this.#calls.filter((call) => !this.#taken.includes(call));
    this.#taken = this.#calls;
    return calls.length === 0 ? null : { n: this.#input.n(), calls };
  }

  ended({ calls }: NewCalls, isStored: boolean): void {
    const others = (call: NumberedCall): boolean => !calls.includes(call);
    this.#taken = this.#taken.filter(others);
    if (isStored) {
      this.#calls = this.#calls.filter(others);
    }
  }

  /**
   * Stores what no checkpoint has stored, also what a write has taken and not ended. A lease that is lost stores nothing
   * more. Error codes: `database_*`.
   */
  async flush(): Promise<void> {
    const calls = this.#calls;
    if (calls.length === 0) {
      return;
    }
    const { store, fence } = this.#input;
    const given = { n: this.#input.n(), calls };
    try {
      await store.write(storeCallsAlone, { ...given, fence });
      this.ended(given, true);
    } catch (error) {
      if (!isRepriseError(error, "lease_lost") && !isRepriseError(error, "session_ended")) {
        throw error;
      }
    }
  }
}
