import type { FileChangeInfo } from "../../../core/schemas/file-change-schemas.ts";
import type { Message } from "../../../core/sessions.ts";
import type { ReadChanges } from "./exchange-rows.ts";
import type { CallKey } from "./sub-agents.ts";

/** Reads what a call of these messages changed. */
export type ReplayedChanges = (call_id: string) => Promise<readonly FileChangeInfo[]>;

/** Reads what the calls of these messages changed, at once when it is first asked for. */
export function replayedChanges(
  read: ReadChanges | undefined,
  messages: readonly Message[],
): ReplayedChanges {
  const session_id = messages[0]?.session_id ?? "";
  const call_ids = messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id));
  let all: ReturnType<ReadChanges> | undefined;
  return async (call_id) => {
    all ??= read?.({ session_id, call_ids });
    return (await all)?.get(call_id) ?? [];
  };
}

/** Each call's changes, in the order of the calls. */
export async function callChanges(
  read: ReadChanges,
  calls: readonly CallKey[],
): Promise<FileChangeInfo[]> {
  const found: FileChangeInfo[] = [];
  for (const [session_id, group] of Map.groupBy(calls, (call) => call.session_id)) {
    const call_ids = group.map(({ call_id }) => call_id);
    const changes = await read({ session_id, call_ids });
    found.push(...call_ids.flatMap((id) => changes.get(id) ?? []));
  }
  return found;
}
