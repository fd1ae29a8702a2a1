import type { Session } from "../../core/sessions.ts";
import type { Tx } from "../store.ts";
import { firstOpenQuestion } from "./read.ts";

/**
 * What becomes of an exchange that would wait for a person: if no question is open any more, a node
 * continues it. One of a sub-agent is continued by its parent's, and what a graph of others asks is in
 * its thread alone.
 */
export async function parkedState(
  tx: Tx,
  { id, parent_session_id, agent }: Pick<Session, "id" | "parent_session_id" | "agent">,
): Promise<"queued" | "waiting"> {
  const mayContinue = parent_session_id === null && agent === null;
  return mayContinue && (await firstOpenQuestion(tx, id)) === null ? "queued" : "waiting";
}
