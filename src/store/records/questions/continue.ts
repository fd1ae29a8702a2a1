import { approvalCallId } from "../../../core/plan-runs.ts";
import type { QuestionRecord } from "../../../core/sessions.ts";
import { refreshReady } from "../exchanges/ready.ts";
import { BEGUN } from "../exchanges/records.ts";
import type { Fence } from "../leases/fence.ts";
import type { Operation, Tx } from "../../store.ts";
import { firstOpenQuestion } from "./read.ts";
import { delegationOf, lockPath, withinDelegation } from "./tree.ts";

/**
 * Returns true for an answer that lets something continue, whatever else the tree asks: the session that asked has no other open
 * question. The calls of one answer continue together, once all of them have what they asked for; phases of a plan are approved
 * one by one.
 */
export async function letsContinue(
  tx: Tx,
  { session_id, kind }: Pick<QuestionRecord, "session_id" | "kind">,
): Promise<boolean> {
  if (kind === "messages" || kind === "approval") {
    return kind === "approval";
  }
  const other = await ownOpen(tx, session_id).executeTakeFirst();
  return other === undefined;
}

/** Returns true if an answer came under this lease that lets something continue, and that the exchange under it has not seen. */
export async function wasAnsweredMeanwhile(tx: Tx, { session_id, epoch }: Fence): Promise<boolean> {
  const rows = await tx.db
    .selectFrom("questions")
    .select(["session_id", "kind", "call_id"])
    .where("answered_epoch", "=", epoch)
    .where("session_id", "in", withinDelegation(session_id))
    .execute();
  for (const row of rows) {
    if ((await isUnseen(tx, row, session_id)) && (await letsContinue(tx, row))) {
      return true;
    }
  }
  return false;
}

/** Returns false if a sub-agent that asked does not wait any more, or the phase that asked for approval does not. */
async function isUnseen(
  tx: Tx,
  { session_id, kind, call_id }: Pick<QuestionRecord, "session_id" | "kind" | "call_id">,
  top: string,
): Promise<boolean> {
  if (kind === "approval") {
    const phases = await tx.db
      .selectFrom("plan_phases")
      .select(["key", "attempt"])
      .where("session_id", "=", session_id)
      .where("state", "=", "approval")
      .execute();
    return phases.some((phase) => approvalCallId(phase) === call_id);
  }
  const waiting = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("state", "=", "waiting")
    .executeTakeFirst();
  return session_id === top || waiting !== undefined;
}

/**
 * Returns true if the exchange of a sub-agent waits, and nothing in it can continue: it and each one below it that waits has an open
 * question itself.
 */
export const onlyWaits: Operation<{ readonly id: string }, boolean> = async (tx, { id }) => {
  const rows = await tx.db
    .selectFrom("exchanges")
    .select("session_id")
    .where("session_id", "in", withinDelegation(id))
    .where("ended_at", "is", null)
    .where("state", "=", "waiting")
    .execute();
  const asking = new Set<string>();
  for (const { session_id } of rows) {
    if ((await ownOpen(tx, session_id).executeTakeFirst()) !== undefined) {
      asking.add(session_id);
    }
  }
  return asking.has(id) && asking.size === rows.length;
};

/** The open questions that a session asks itself, and that an exchange waits for. */
function ownOpen(tx: Tx, session_id: string) {
  return tx.db
    .selectFrom("questions")
    .select("id")
    .where("session_id", "=", session_id)
    .where("state", "=", "open")
    .where("kind", "!=", "messages")
    .limit(1);
}

/** As `continueAbove`, for a sub-agent whose exchange somebody else than its parent has run. */
export const continueParents: Operation<{ readonly id: string }, void> = async (tx, { id }) =>
  continueAbove(tx, await delegationOf(tx, await lockPath(tx, id)));

/**
 * Continues the exchange that began a sub-agent, which does not wait any more, unless its tree still asks something: no call
 * of it could continue before. `path` is of `delegationOf`, and its sessions are held.
 */
export async function continueAbove(tx: Tx, path: readonly string[]): Promise<void> {
  const waiting = path.length > 1 ? await waitingAbove(tx, path.slice(0, -1)) : null;
  if (waiting !== null && (await firstOpenQuestion(tx, waiting)) === null) {
    await queueWaiting(tx, waiting);
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

/** Lets a node continue an exchange that has an answer. Nothing if it does not wait. */
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
          .where("sessions.parent_call_id", "is", null),
      ),
    )
    .execute();
  await refreshReady(tx, session_id);
}
