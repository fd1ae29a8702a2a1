import type { Mirror, MirrorRow } from "../../store/verify/mirror.ts";
import type { Match } from "./match.ts";

/**
 * The position up to which the messages were cleared. The session's row says so, and so does each
 * message's. Clearing hides whole threads, which were over by then: where the two differ, a mark
 * that no clear could have left is the wrong one, else what fewer rows say.
 */
export function clearMark(mirror: Mirror, match: Match): number {
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

/** The last hidden row; null where a row before it is shown. */
function markOfRows(rows: readonly MirrorRow[]): number | null {
  const hidden = rows.filter(({ archived }) => archived === 1);
  const mark = hidden.at(-1)?.seq ?? 0;
  return rows.filter(({ seq }) => seq <= mark).length === hidden.length ? mark : null;
}

function possibleMarks(mirror: Mirror, { messages }: Match): (mark: number) => boolean {
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
