import type { Session } from "./sessions.ts";

/** Returns true for the session at the top of its tree, which has the tree's limits, permission mode and rules. */
export function isRoot({ parent_session_id }: Pick<Session, "parent_session_id">): boolean {
  return parent_session_id === null;
}

/**
 * Returns true for the session of a sub-agent: a call in the session above it began it, waits for its answer, and runs its
 * exchanges. One with a parent and without a call, such as a copy of a sub-agent, belongs to nobody and is run as a root is.
 */
export function isDelegated({ parent_call_id }: Pick<Session, "parent_call_id">): boolean {
  return parent_call_id !== null;
}
