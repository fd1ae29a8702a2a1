import { oneLine } from "../../core/terminal-text.ts";
import type { DeletionPreview } from "../../store/sessions/delete-tree.ts";
import { plural } from "../plural.ts";

/** A line for each session that goes: sub-agents are indented below their parent. */
export function deletionLines(doomed: readonly DeletionPreview[]): string[] {
  const top = doomed[0]?.session.depth ?? 0;
  return doomed.map(({ session, messages, threads, checkpoints }) => {
    const indent = "  ".repeat(session.depth - top + 1);
    const title = oneLine(session.title ?? "(no message yet)");
    return `${indent}${session.id}  ${title}  (${session.state}; ${plural(messages, "message")}, ${plural(threads, "thread")}, ${plural(checkpoints, "checkpoint")})`;
  });
}

/** The same for programs. */
export function deletionDocument({ session, ...counts }: DeletionPreview): Record<string, unknown> {
  return {
    id: session.id,
    title: session.title,
    parent_session_id: session.parent_session_id,
    ...counts,
  };
}
