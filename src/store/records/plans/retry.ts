import { RepriseError } from "../../../core/errors.ts";
import type { Operation, Tx } from "../../store.ts";
import { refuseEnded } from "../sessions/change.ts";
import { lockSession } from "../sessions/lock.ts";
import { readSession } from "../sessions/read.ts";
import { readPhases, type StoredPhase } from "./phases.ts";

export interface RetryPhases {
  readonly session_id: string;
  /** Keys of phases that failed or were refused; none for all of them. */
  readonly keys: readonly string[];
}

/**
 * Lets phases that failed or were refused wait for another attempt. Returns their keys.
 *
 * Error codes: as `readRetryable`.
 */
export const retryPhases: Operation<RetryPhases, readonly string[]> = async (tx, input) => {
  const { session_id } = input;
  await lockSession(tx, session_id);
  const chosen = (await retryable(tx, input)).map(({ key }) => key);
  await tx.db
    .updateTable("plan_phases")
    .set((eb) => ({
      state: "waiting" as const,
      attempt: eb("attempt", "+", 1),
      artifact_hash: null,
    }))
    .where("session_id", "=", session_id)
    .where("key", "in", chosen)
    .execute();
  tx.touch(session_id);
  return chosen;
};

/**
 * Reads the phases that would be tried again.
 *
 * Error codes: `session_busy` while the run runs; `session_ended`; `invalid_usage` for a phase that has neither failed nor
 * been refused; `nothing_to_continue` if none has.
 */
export const readRetryable: Operation<RetryPhases, readonly StoredPhase[]> = (tx, input) =>
  retryable(tx, input);

async function retryable(
  tx: Tx,
  { session_id, keys }: RetryPhases,
): Promise<readonly StoredPhase[]> {
  const session = await readSession(tx, { id: session_id });
  refuseEnded(session);
  if (session.activity === "running") {
    throw new RepriseError(
      "session_busy",
      "The run is running. Wait until it has ended, or stop it.",
    );
  }
  const phases = await readPhases(tx, { session_id });
  const over = phases.filter(({ state }) => state === "failed" || state === "refused");
  if (keys.some((key) => !over.some((each) => each.key === key))) {
    const names = over.map(({ key }) => key).join(", ");
    throw new RepriseError(
      "invalid_usage",
      `Only phases that failed or were refused can be tried again. These did: ${names || "none"}.`,
    );
  }
  if (over.length === 0) {
    throw new RepriseError(
      "nothing_to_continue",
      "No phase of this run has failed or was refused.",
    );
  }
  return keys.length === 0 ? over : over.filter(({ key }) => keys.includes(key));
}
