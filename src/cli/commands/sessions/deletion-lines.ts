import { titleLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import type { DeletionPreview } from "../../../store/records/sessions/delete-tree.ts";

/** A line for each session that goes: sub-agents are indented below their parent. */
export function deletionLines(previews: readonly DeletionPreview[]): string[] {
  const top = previews[0]?.session.depth ?? 0;
  return previews.map(({ session, name, messages, threads, checkpoints }) => {
    const indent = "  ".repeat(session.depth - top + 1);
    return `${indent}${session.id}  ${titleLine({ ...session, name })}  (${session.state}; ${plural(messages, "message")}, ${plural(threads, "thread")}, ${plural(checkpoints, "checkpoint")})`;
  });
}
