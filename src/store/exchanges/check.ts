import { type ExchangeState, isFinal } from "../../core/exchanges.ts";
import { isTime } from "../../core/time.ts";

/** What is checked of a record, and of its session. */
export interface CheckedRecord {
  readonly n: number;
  readonly state: ExchangeState;
  readonly thread_suffix: number | null;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly begun_at: string | null;
  readonly ended_at: string | null;
  /** An export leaves out what it has not. */
  readonly content?: string | null | undefined;
  readonly authenticated?: boolean | number | undefined;
  readonly queued_at?: string | null | undefined;
}
export interface CheckedSession {
  readonly exchange_count?: number | undefined;
  readonly thread_suffix: number;
  readonly last_seq: number;
}

export interface RecordProblem {
  /** Position of the record in the list. */
  readonly index: number;
  readonly field: keyof CheckedRecord;
  /** Begins with "Must". */
  readonly message: string;
}

/** What cannot be true of a session's records, which are in order of `n`. */
export function* recordProblems(
  records: readonly CheckedRecord[],
  session: CheckedSession,
): Generator<RecordProblem, undefined> {
  const { exchange_count = 0, thread_suffix, last_seq } = session;
  let before = 0;
  let open = 0;
  for (const [index, record] of records.entries()) {
    const { n, state, first_seq, begun_at, ended_at } = record;
    const isOpen = !isFinal(state);
    open += isOpen && state !== "queued" ? 1 : 0;
    const { content = null, authenticated = true, queued_at = null } = record;
    const isQueuedText = content === null || (begun_at === null && Boolean(authenticated));
    const isPosition = first_seq === null || (first_seq >= 1 && first_seq <= last_seq + 1);
    const rules: readonly (readonly [keyof CheckedRecord, boolean, string])[] = [
      [
        "n",
        n > before && n <= exchange_count,
        "Must grow, up to the exchange_count of the session.",
      ],
      ["state", !isOpen || open <= 1, "Must be final if an earlier exchange is not."],
      ["ended_at", isOpen === (ended_at === null), "Must be there only in a final state."],
      ["ended_at", ended_at === null || isTime(ended_at), "Must be a time."],
      ["begun_at", begun_at === null || isTime(begun_at), "Must be a time."],
      ["begun_at", begun_at !== null || !hasBegun(state), "Must be there in this state."],
      ["content", isQueuedText, "Must be there only until it begins, from a known caller."],
      ["queued_at", queued_at === null || isTime(queued_at), "Must be a time."],
      ["thread_suffix", (record.thread_suffix ?? 0) <= thread_suffix, "Must be a thread's."],
      ["first_seq", isPosition, "Must be the position of a message, or of the next one."],
      ["last_seq", (record.last_seq ?? 0) <= last_seq, "Must be the position of a message."],
    ];
    for (const [field, holds, message] of rules) {
      if (!holds) {
        yield { index, field, message };
      }
    }
    before = n;
  }
}

/** A queued exchange can also be stopped, or fail, before it begins. */
function hasBegun(state: ExchangeState): boolean {
  return ["running", "waiting", "interrupted", "done"].includes(state);
}
