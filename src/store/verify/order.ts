import type { CheckpointMessage } from "./checkpoint-messages.ts";
import type { MirrorRow } from "./mirror.ts";

export interface MatchedMessage extends CheckpointMessage {
  readonly row: MirrorRow | null;
}

/*
 * A new row comes after all others, and stays there when a graph rearranges its messages. So two rows
 * are in the right order if it is that of the latest checkpoint, or that in which the thread first
 * stored their messages: tasks that run side by side store theirs before a checkpoint orders them.
 * A message that was appended through the API may come before anything that was stored until it was
 * handed over. A row without an origin may be such a message, or one that a graph made. A summary's
 * row is at the position where the summary was made, whatever the summary replaces in the thread. A
 * message that came without authentication is handed over once somebody has accepted it, however
 * late that is.
 */

/** Rows that come before one that they have to follow, ascending in the checkpoints' order. */
export function misplacedRows(messages: readonly MatchedMessage[]): MirrorRow[] {
  return misplaced(messages, seqOf).flatMap(({ row }) => row ?? []);
}

/**
 * True if a graph has put messages between or before others that were stored earlier: what an answer
 * was sent is then no longer what comes before it.
 */
export function isRearranged(messages: readonly MatchedMessage[]): boolean {
  return messages.some(({ first }, index) => first !== index);
}

/** Sources that a row's message may precede: those that it has to follow have one of these. */
const FOLLOWED = {
  appended: ["appended"],
  user: ["appended", "user"],
  made: ["appended", "user", "made"],
} as const;
type Source = keyof typeof FOLLOWED;

/** Messages with a position that is before one that they have to follow. */
function misplaced(
  messages: readonly MatchedMessage[],
  positionOf: (message: MatchedMessage) => number,
): MatchedMessage[] {
  const { length } = messages;
  const latest = {
    appended: createLatest(length),
    user: createLatest(length),
    made: createLatest(length),
  };
  return messages.filter((one) => {
    if (isFree(one) || positionOf(one) === 0) {
      return false;
    }
    const source = sourceOf(one);
    const last = Math.max(...FOLLOWED[source].map((other) => latest[other].before(one.first)));
    latest[source].add(one.first, positionOf(one));
    return positionOf(one) < last;
  });
}

function sourceOf({ row, message }: MatchedMessage): Source {
  const origin = row?.origin ?? null;
  if (origin === null) {
    return message.role === "user" ? "user" : "made";
  }
  return origin === "agent" ? "made" : "appended";
}

/** A Fenwick tree: the last position among the messages that were first stored before another. */
function createLatest(length: number) {
  const last: number[] = Array.from({ length: length + 1 }, () => 0);
  return {
    before: (first: number): number => {
      let position = 0;
      for (let index = first; index > 0; index -= lowestBit(index)) {
        position = Math.max(position, last[index] ?? 0);
      }
      return position;
    },
    add: (first: number, position: number): void => {
      for (let index = first + 1; index <= length; index += lowestBit(index)) {
        last[index] = Math.max(position, last[index] ?? 0);
      }
    },
  };
}

function lowestBit(index: number): number {
  return index & -index;
}

/**
 * The messages of the checkpoints in the order that their rows need: the order of the rows if that
 * is right, with the missing ones between them, else that of the checkpoints, or that in which they
 * were first stored if fewer rows move then.
 */
export function orderedMessages(messages: readonly MatchedMessage[]): MatchedMessage[] {
  const kept = inOrderOfRows(messages);
  const positions = new Map(kept.map((one, index) => [one, index + 1]));
  if (misplaced(messages, (one) => positions.get(one) ?? 0).length === 0) {
    return kept;
  }
  const byFirst = messages.toSorted((a, b) => a.first - b.first);
  return movedRows(byFirst) < movedRows(messages) ? byFirst : [...messages];
}

function movedRows(messages: readonly MatchedMessage[]): number {
  const seqs = messages.filter(({ row }) => row !== null).map(seqOf);
  const sorted = seqs.toSorted((a, b) => a - b);
  return seqs.filter((seq, index) => seq !== sorted[index]).length;
}

function inOrderOfRows(messages: readonly MatchedMessage[]): MatchedMessage[] {
  const present = messages.filter((one) => one.row !== null).sort((a, b) => seqOf(a) - seqOf(b));
  const gaps = gapsOf(messages, new Map(present.map((one, index) => [one, index])));
  const ordered: MatchedMessage[] = [...(gaps.get(-1) ?? [])];
  for (const [index, one] of present.entries()) {
    ordered.push(one, ...(gaps.get(index) ?? []));
  }
  return ordered;
}

/**
 * The missing messages by the row that they follow, -1 for none. A message of the user goes before
 * everything that has to follow it, any other after everything that it has to follow.
 */
function gapsOf(
  messages: readonly MatchedMessage[],
  indexes: ReadonlyMap<MatchedMessage, number>,
): Map<number, MatchedMessage[]> {
  const nextPresent = earliestAfter(messages, indexes);
  const gaps = new Map<number, MatchedMessage[]>();
  let last = -1;
  for (const [index, one] of messages.entries()) {
    const present = indexes.get(one);
    if (present !== undefined) {
      last = isFree(one) ? last : Math.max(last, present);
      continue;
    }
    const before = (nextPresent[index] ?? indexes.size) - 1;
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

/** For each message, the first position of the row of a later one. */
function earliestAfter(
  messages: readonly MatchedMessage[],
  indexes: ReadonlyMap<MatchedMessage, number>,
): number[] {
  const earliest: number[] = [];
  let first = indexes.size;
  for (const one of messages.toReversed()) {
    earliest.push(first);
    first = isFree(one) ? first : Math.min(first, indexes.get(one) ?? first);
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
