import type { Match } from "./match.ts";
import type { MirrorRow, MirrorState } from "./mirror.ts";

/**
 * The position up to which the messages were cleared. The session's row has it, and so has each
 * message's. Clearing hides whole, finished threads. If the two differ, a mark that no clear could
 * have left is the wrong one, else the one that fewer rows confirm.
 */
export function clearMark(mirror: MirrorState, match: Match): number {
  const { cleared_seq } = mirror.counters;
  const byRows = markOfRows(mirror.rows);
  if (byRows === null) {
    return cleared_seq;
  }
  const [low, high] = [Math.min(byRows, cleared_seq), Math.max(byRows, cleared_seq)];
  const between = mirror.rows.filter(({ seq }) => seq > low && seq <= high).length;
  if (between === 0) {
    return cleared_seq;
  }
  const isPossible = possibleMarks(mirror, match);
  if (isPossible(byRows) !== isPossible(cleared_seq)) {
    return isPossible(byRows) ? byRows : cleared_seq;
  }
  return between > 1 ? byRows : cleared_seq;
}

/** The last hidden row; null if a row before it is shown. */
function markOfRows(rows: readonly MirrorRow[]): number | null {
  const hidden = rows.filter(({ archived }) => archived === 1);
  const mark = hidden.at(-1)?.seq ?? 0;
  return rows.filter(({ seq }) => seq <= mark).length === hidden.length ? mark : null;
}

function possibleMarks(mirror: MirrorState, { messages }: Match): (mark: number) => boolean {
  const { thread_suffix } = mirror.counters;
  const threads = Map.groupBy(messages, ({ thread }) => thread);
  return (mark) =>
    mark === 0 ||
    (mark > 0 &&
      thread_suffix > 0 &&
      [...threads].every(([thread, ones]) => {
        const hidden = ones.filter(({ row }) => row !== null && row.seq <= mark).length;
        const shown = ones.filter(({ row }) => row !== null && row.seq > mark).length;
        return hidden === 0 || (shown === 0 && thread < thread_suffix);
      }));
}

/** A message in its right position, and what its row says of having been cleared. */
export interface MarkedMessage {
  /** Suffix of the thread that holds the message; null if a clear may come between any two. */
  readonly thread: number | null;
  /**
   * Whether the row was archived, and whether its position was a cleared one; null without a row.
   */
  readonly row: { readonly archived: boolean; readonly cleared: boolean } | null;
}

/**
 * The position up to which messages were cleared, if rows have to move: the one that the fewest
 * rows contradict, by their flag or by the position that they had. The clear action hides whole
 * threads, and never the one in use: each exception counts as one more contradiction. Of marks that
 * are equally likely the one nearest to `mark` is taken. Linear in the messages.
 */
export function movedMark(
  messages: readonly MarkedMessage[],
  { mark, threadInUse }: { readonly mark: number; readonly threadInUse: number },
): number {
  const splits = splitsAt(messages, threadInUse);
  let contradictions = 0;
  let best = { mark: 0, cost: 0 };
  for (const [index, message] of messages.entries()) {
    contradictions += hidingCost(message);
    const candidate = { mark: index + 1, cost: contradictions + (splits[index + 1] ?? 0) };
    const isNearer = Math.abs(candidate.mark - mark) < Math.abs(best.mark - mark);
    if (candidate.cost < best.cost || (candidate.cost === best.cost && isNearer)) {
      best = candidate;
    }
  }
  return best.mark;
}

/** How many contradictions more there are if this message is hidden, compared with shown. */
function hidingCost({ row }: MarkedMessage): number {
  return row === null ? 0 : (row.archived ? -1 : 1) + (row.cleared ? -1 : 1);
}

/** For each mark, how many threads it would split, and one for hiding any of the thread in use. */
function splitsAt(messages: readonly MarkedMessage[], threadInUse: number): number[] {
  const ends = new Map<number, { readonly first: number; last: number }>();
  for (const [index, { thread }] of messages.entries()) {
    if (thread !== null) {
      const last = thread === threadInUse ? messages.length : index;
      const known = ends.get(thread);
      ends.set(thread, { first: known?.first ?? index, last });
    }
  }
  const changes = Array.from({ length: messages.length + 2 }, () => 0);
  for (const { first, last } of ends.values()) {
    changes[first + 1] = (changes[first + 1] ?? 0) + 1;
    changes[last + 1] = (changes[last + 1] ?? 0) - 1;
  }
  let open = 0;
  return changes.map((change) => (open += change));
}
