import type { OpenQuestion } from "../store/records/questions/read.ts";

type Asked = Pick<OpenQuestion, "session_id" | "kind">;

/** Returns true if a session that asked before has no open question any more: its calls continue, whatever others still ask. */
export function someContinue(before: readonly Asked[], open: readonly Asked[]): boolean {
  const asking = new Set(open.filter(isWaitedFor).map(({ session_id }) => session_id));
  return before.some((each) => isWaitedFor(each) && !asking.has(each.session_id));
}

function isWaitedFor({ kind }: Asked): boolean {
  return kind !== "messages";
}
