import { reasonOf } from "../../../src/entries/client.ts";
import type { LiveCall, SessionModel } from "../model.ts";
import type { StoredCall } from "../rows.ts";

/**
 * How a call ended. `unknown` also for one that has no result and gets none any more, and for an end that was not
 * recorded. `unread`: its result was not read yet.
 */
export type CallState = LiveCall["status"] | "unread";

export interface ShownState {
  readonly state: CallState;
  /** Why it failed, in one line. */
  readonly reason: string;
  /** Milliseconds; null if nobody knows. */
  readonly took: number | null;
}

/** True for a call that did not do what it was to do. */
export function isFailed(state: CallState): boolean {
  return state === "failed" || state === "denied" || state === "not_run";
}

/** What is known of a call, from its result and from what happens now. */
export function stateOf(
  { call, asked_at, result }: StoredCall,
  { live, ends }: Pick<SessionModel, "live" | "ends">,
): ShownState {
  const now = ends.get(call.id) ?? live.value?.calls.find(({ call_id }) => call_id === call.id);
  const took = now?.duration_ms ?? null;
  if (result === undefined || result === null) {
    return { state: now?.status ?? (result === null ? "unknown" : "unread"), reason: "", took };
  }
  const { status, content, ts } = result;
  const isSaid = status !== null && status !== "ok";
  const between = Date.parse(ts) - Date.parse(asked_at);
  return {
    state: status ?? "unknown",
    reason: isSaid ? reasonOf(content) : "",
    took: took ?? (between >= 0 ? between : null),
  };
}
