import { refreshReady } from "../exchanges/ready.ts";
import { BEGUN } from "../exchanges/records.ts";
import type { Operation, Tx } from "../store.ts";
import { firstOpenQuestion } from "./read.ts";
import { lockPath } from "./tree.ts";

/** Queues the exchange of a session that waits, unless a question in its tree is open. */
export async function continueAnswered(tx: Tx, waiting: string | null): Promise<void> {
  if (waiting !== null && (await firstOpenQuestion(tx, waiting)) === null) {
    await queueWaiting(tx, waiting);
  }
}

/** As `continueAbove`, for a sub-agent whose exchange somebody else than its parent has run. */
export const continueParents: Operation<{ readonly id: string }, void> = async (tx, { id }) =>
  continueAbove(tx, await lockPath(tx, id));

/**
 * A sub-agent does not wait any more: the exchange that began it continues, unless it waits for something
 * else. The sessions on the path to it are held.
 */
export async function continueAbove(tx: Tx, path: readonly string[]): Promise<void> {
  if (path.length > 1) {
    await continueAnswered(tx, await waitingAbove(tx, path.slice(0, -1)));
  }
}

/** The highest session on the path whose exchange waits; null if the sessions above still run. */
export async function waitingAbove(tx: Tx, path: readonly string[]): Promise<string | null> {
  const rows = await tx.db
    .selectFrom("exchanges")
    .select(["session_id", "state"])
    .where("session_id", "in", path)
    .where("ended_at", "is", null)
    .where("state", "in", BEGUN)
    .execute();
  let highest: string | null = null;
  for (const id of path.toReversed()) {
    const row = rows.find(({ session_id }) => session_id === id);
    if (row === undefined) {
      break;
    }
    highest = row.state === "waiting" ? id : null;
  }
  return highest;
}

/** Lets a node continue an exchange that has its answers. Nothing if it does not wait. */
export async function queueWaiting(tx: Tx, session_id: string): Promise<void> {
  await tx.db
    .updateTable("exchanges")
    .set((eb) => ({
      state: "queued",
      revision: eb("revision", "+", 1),
      queued_at: tx.dialect.now(),
    }))
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("state", "=", "waiting")
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("sessions")
          .select("sessions.id")
          .where("sessions.id", "=", session_id)
          .where("sessions.parent_session_id", "is", null),
      ),
    )
    .execute();
  await refreshReady(tx, session_id);
}
