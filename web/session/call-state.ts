import { outcomeOf } from "./call-text.ts";
import type { SessionModel } from "./model.ts";
import type { StoredCall } from "./rows.ts";

/** `unknown`: it has no result and gets none any more. `unread`: its result was not read yet. */
export type CallState = "running" | "success" | "error" | "unknown" | "unread";

export interface ShownState {
  readonly state: CallState;
  /** Why it failed, in one line. */
  readonly reason: string;
  /** Milliseconds; null if nobody knows. */
  readonly took: number | null;
}

/** What is known of a call, from its result and from what happens now. */
export function stateOf(
  { call, asked_at, result }: StoredCall,
  { live, ends }: Pick<SessionModel, "live" | "ends">,
): ShownState {
  const now = ends.get(call.id) ?? live.value?.calls.find(({ call_id }) => call_id === call.id);
  if (result === undefined) {
    return { state: now?.status ?? "unread", reason: "", took: now?.duration_ms ?? null };
  }
  if (result === null) {
    return { state: now?.status ?? "unknown", reason: "", took: now?.duration_ms ?? null };
  }
  const status = now === undefined || now.status === "running" ? null : now.status;
  const { end, reason, took } = outcomeOf(call.name, result.content, status);
  const between = Date.parse(result.ts) - Date.parse(asked_at);
  return { state: end, reason, took: now?.duration_ms ?? took ?? (between >= 0 ? between : null) };
}
