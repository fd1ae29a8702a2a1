import { RepriseError } from "../../../core/errors.ts";
import type { Operation } from "../../store.ts";
import { refuseEnded } from "../sessions/change.ts";
import { lockSession } from "../sessions/lock.ts";
import { readSession } from "../sessions/read.ts";

const OVER = ["failed", "refused"] as const;

export interface RetryPhases {
  readonly session_id: string;
  /** Keys of phases that failed or were refused; none for all of them. */
  readonly keys: readonly string[];
}

/**
 * Lets phases that failed or were refused wait for another attempt. Returns their keys.
 *
 * Error codes: `session_busy` while the run runs; `invalid_usage` for a phase that has neither failed nor been refused; `nothing_to_continue` if
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
    .where("state", "in", OVER)
    .orderBy("position")
    .execute();
  const failed = rows.map(({ key }) => key);
  if (keys.some((key) => !failed.includes(key))) {
    throw new RepriseError(
      "invalid_usage",
      `Only phases that failed or were refused can be tried again. These did: ${failed.join(", ") || "none"}.`,
    );
  }
  const chosen = keys.length === 0 ? failed : keys;
  if (chosen.length === 0) {
    throw new RepriseError(
      "nothing_to_continue",
      "No phase of this run has failed or was refused.",
    );
  }
  await tx.db
    .updateTable("plan_phases")
    .set((eb) => ({ state: "waiting" as const, attempt: eb("attempt", "+", 1) }))
    .where("session_id", "=", session_id)
    .where("key", "in", chosen)
    .where("state", "in", OVER)
    .execute();
  tx.touch(session_id);
  return chosen;
};
