import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { isDelegated } from "../../../core/session-tree.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Fence } from "../leases/fence.ts";
import type { Tx } from "../../store.ts";
import { wasAnsweredMeanwhile } from "./continue.ts";
import { firstOpenQuestion } from "./read.ts";

/**
 * Returns what becomes of an exchange that would wait for a person: a node continues it if no question is open any more, or
 * one was answered under this lease that lets something continue. One of a sub-agent is continued by its parent's, and what a
 * graph of others asks is in its thread alone.
 */
export async function parkedState(
  tx: Tx,
  session: Pick<Session, "id" | "parent_call_id" | "agent">,
  fence: Fence,
): Promise<"queued" | "waiting"> {
  if (isDelegated(session) || !(session.agent === null || session.agent === PLAN_AGENT)) {
    return "waiting";
  }
  const isOpen = (await firstOpenQuestion(tx, session.id)) !== null;
  return isOpen && !(await wasAnsweredMeanwhile(tx, fence)) ? "waiting" : "queued";
}
