import type { MirrorRow } from "../../store/verify/mirror.ts";
import type { MatchedMessage } from "./match.ts";

/*
 * A user message may have been appended through the API while an exchange was at work: its row then
 * stands before the answer's, and the checkpoint has it behind. So of two messages the rows may
 * stand the other way round only where the first is none of the user's and the second is. A summary
 * stands where it was made, whatever it takes the place of in the thread. A message that came without
 * authentication is handed over once somebody has accepted it, however late that is.
 */

/** Rows that stand before one that they have to follow, ascending in the checkpoints' order. */
export function misplacedRows(messages: readonly MatchedMessage[]): MirrorRow[] {
  const misplaced: MirrorRow[] = [];
  let lastUser = 0;
  let last = 0;
  for (const { row, message } of messages) {
    if (row === null || isFree({ row, message })) {
      continue;
    }
    const isUser = message.role === "user";
    if (row.seq < (isUser ? lastUser : last)) {
      misplaced.push(row);
    }
    last = Math.max(last, row.seq);
    lastUser = isUser ? Math.max(lastUser, row.seq) : lastUser;
  }
  return misplaced;
}

/**
 * The messages of the checkpoints in the order in which their rows have to stand: as the rows do
 * where that is right, with the missing ones between them, else as the checkpoints have them.
 */
export function orderedMessages(messages: readonly MatchedMessage[]): MatchedMessage[] {
  if (misplacedRows(messages).length > 0) {
    return [...messages];
  }
  const present = messages.filter((one) => one.row !== null).sort((a, b) => seqOf(a) - seqOf(b));
  const gaps = gapsOf(messages, new Map(present.map((one, index) => [one, index])));
  const ordered: MatchedMessage[] = [...(gaps.get(-1) ?? [])];
  for (const [index, one] of present.entries()) {
    ordered.push(one, ...(gaps.get(index) ?? []));
  }
  return ordered;
}

/**
 * The missing messages by the row that they follow, -1 for none. One of the user's goes in front of
 * everything that has to follow it, any other behind everything that it has to follow.
 */
function gapsOf(
  messages: readonly MatchedMessage[],
  places: ReadonlyMap<MatchedMessage, number>,
): Map<number, MatchedMessage[]> {
  const nextPresent = earliestBehind(messages, places);
  const gaps = new Map<number, MatchedMessage[]>();
  let last = -1;
  for (const [index, one] of messages.entries()) {
    const place = places.get(one);
    if (place !== undefined) {
      last = isFree(one) ? last : Math.max(last, place);
      continue;
    }
    const before = (nextPresent[index] ?? places.size) - 1;
    const gap = one.message.role === "user" ? Math.min(last, before) : last;
    const others = gaps.get(gap);
    if (others === undefined) {
      gaps.set(gap, [one]);
    } else {
      others.push(one);
    }
  }
  return gaps;
}

/** For each message, the first place at which the row of a later one stands. */
function earliestBehind(
  messages: readonly MatchedMessage[],
  places: ReadonlyMap<MatchedMessage, number>,
): number[] {
  const earliest: number[] = [];
  let first = places.size;
  for (const one of messages.toReversed()) {
    earliest.push(first);
    first = isFree(one) ? first : Math.min(first, places.get(one) ?? first);
  }
  return earliest.reverse();
}

/** Whether the row may be anywhere, whatever the thread's order is. */
export function isFree({ row, message }: Pick<MatchedMessage, "row" | "message">): boolean {
  return message.is_summary || row?.authenticated === 0;
}

function seqOf({ row }: MatchedMessage): number {
  return row?.seq ?? 0;
}
