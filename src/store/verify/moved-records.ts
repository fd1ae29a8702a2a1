import type { CheckedRecord } from "../records/exchanges/check.ts";
import type { MirrorRow } from "./mirror.ts";

/** The first and last message of an exchange, as its record names them. */
export type RecordPositions = Pick<CheckedRecord, "n" | "first_seq" | "last_seq">;

/**
 * The records that have to name other positions if these rows become those. Rows that are created
 * again were there when the records were stored, and so were those that move: only rows that go, and
 * that none takes the place of, shift what comes after them.
 */
export function movedRecords(
  records: readonly RecordPositions[],
  { before, after }: Readonly<Record<"before" | "after", readonly MirrorRow[]>>,
): RecordPositions[] {
  const removed = seqsOnlyIn(before, after);
  const added = seqsOnlyIn(after, before);
  const upTo = (position: number): number => {
    const count = (seqs: readonly number[]) => seqs.filter((seq) => seq <= position).length;
    return Math.min(position - Math.max(0, count(removed) - count(added)), after.length);
  };
  return records.flatMap((record) => {
    const first_seq = record.first_seq === null ? null : upTo(record.first_seq - 1) + 1;
    const last_seq = record.last_seq === null ? null : upTo(record.last_seq);
    const isEmpty = first_seq !== null && last_seq !== null && last_seq < first_seq;
    const moved = isEmpty ? { first_seq: null, last_seq: null } : { first_seq, last_seq };
    const isSame = moved.first_seq === record.first_seq && moved.last_seq === record.last_seq;
    return isSame ? [] : [{ n: record.n, ...moved }];
  });
}

function seqsOnlyIn(rows: readonly MirrorRow[], others: readonly MirrorRow[]): number[] {
  const known = new Set(others.map(({ message_id }) => message_id));
  return rows.filter(({ message_id }) => !known.has(message_id)).map(({ seq }) => seq);
}
