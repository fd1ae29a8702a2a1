import { RepriseError } from "../core/errors.ts";
import { LEASE_MS } from "../core/limits.ts";
import { questionBefore, waitsFor } from "../store/records/exchanges/waits-for.ts";
import type { Store } from "../store/store.ts";
import { whetherRuns } from "./runnable.ts";

export interface TurnOptions {
  readonly store: Store;
  readonly session_id: string;
  /** How long a service that is started again may take; `LEASE_MS` by default. */
  readonly patienceMs?: number;
}

/**
 * For a message that waits until another exchange is done, which it would skip: refuses it as long as a node is
 * to continue that exchange, and if that exchange asks a person.
 *
 * Error codes: `session_busy`, `question_open`.
 */
export function createTurn({
  store,
  session_id,
  patienceMs = LEASE_MS,
}: TurnOptions): () => Promise<void> {
  let withoutNodeSince: number | null = null;
  return async () => {
    const waits = await store.read(waitsFor, { session_id });
    if (waits !== "node" && waits !== "answer") {
      return;
    }
    if (waits === "answer") {
      throw questionBefore();
    }
    const session = { session_id, state: "queued" } as const;
    const { runnable } = await whetherRuns(store, session, { besides: false });
    const now = performance.now();
    withoutNodeSince = runnable ? null : (withoutNodeSince ?? now);
    if (withoutNodeSince === null || now - withoutNodeSince < patienceMs) {
      throw new RepriseError(
        "session_busy",
        "A service is to continue the exchange before it; wait until it is done, or stop it with `reprise stop`.",
      );
    }
  };
}
