import { oneLine, titleLine } from "../../core/text/terminal-text.ts";
import type { TreeMember } from "../../store/records/sessions/trees/family-tree.ts";

/** A session of a tree as a row begins: the lines from its parent, and what it is. */
export interface TreeTitle {
  readonly branch: string;
  readonly text: string;
}

/** The rows of a tree, in their order. Texts are cleaned. */
export function treeTitles(members: readonly TreeMember[]): TreeTitle[] {
  const isLast = lastOnes(members);
  const open: boolean[] = [];
  return members.map((member, index) => {
    const { level } = member;
    const isOpen = isLast[index] === false;
    open[level] = isOpen;
    const lines = open.slice(1, level).map((each) => (each ? "│ " : "  "));
    const branch = level === 0 ? "" : `${lines.join("")}${isOpen ? "├ " : "└ "}`;
    return { branch, text: textOf(member) };
  });
}

/** Whether no other session below the same one comes after it. */
function lastOnes(members: readonly TreeMember[]): boolean[] {
  const seen = new Set<string | null>();
  return members
    .toReversed()
    .map(({ above }) => {
      const isLast = !seen.has(above);
      seen.add(above);
      return isLast;
    })
    .toReversed();
}

/** A fork has the title of its origin: what was sent first in it says which one it is. */
function textOf({ session, forked_at, began_with }: TreeMember): string {
  if (forked_at !== null) {
    const at = forked_at === 0 ? "the beginning" : String(forked_at);
    const own = session.name ?? began_with;
    return `fork at ${at}: ${own === null ? "(no message since)" : oneLine(own)}`;
  }
  return session.parent_session_id === null
    ? titleLine(session)
    : `sub-agent: ${titleLine(session)}`;
}
