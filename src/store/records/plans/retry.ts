import { RepriseError } from "../../../core/errors.ts";
import type { Operation } from "../../store.ts";
import { refuseEnded } from "../sessions/change.ts";
import { lockSession } from "../sessions/lock.ts";
import { readSession } from "../sessions/read.ts";

export interface RetryPhases {
  readonly session_id: string;
  /** Keys of phases that failed; none for all of them. */
  readonly keys: readonly string[];
}

/**
 * Lets phases that failed wait for another attempt. Returns their keys.
 *
 * Error codes: `session_busy` while the run runs; `invalid_usage` for a phase that has not failed; `nothing_to_continue` if
 * none has.
 */
export const retryPhases: Operation<RetryPhases, readonly string[]> = async (
  tx,
  { session_id, keys },
) => {
  await lockSession(tx, session_id);
  const session = await readSession(tx, { id: session_id });
  refuseEnded(session);
  if (session.activity === "running") {
    throw new RepriseError(
      "session_busy",
      "The run is running. Wait until it has ended, or stop it.",
    );
  }
  const rows = await tx.db
    .selectFrom("plan_phases")
    .select(["key", "attempt"])
    .where("session_id", "=", session_id)
    .where("state", "=", "failed")
    .orderBy("position")
    .execute();
  const failed = rows.map(({ key }) => key);
  if (keys.some((key) => !failed.includes(key))) {
    throw new RepriseError(
      "invalid_usage",
      `Only phases that failed can be tried again. These failed: ${failed.join(", ") || "none"}.`,
    );
  }
  const chosen = keys.length === 0 ? failed : keys;
  if (chosen.length === 0) {
    throw new RepriseError("nothing_to_continue", "No phase of this run has failed.");
  }
  await tx.db
    .updateTable("plan_phases")
    .set((eb) => ({ state: "waiting" as const, attempt: eb("attempt", "+", 1) }))
    .where("session_id", "=", session_id)
    .where("key", "in", chosen)
    .where("state", "=", "failed")
    .execute();
  tx.touch(session_id);
  return chosen;
};
