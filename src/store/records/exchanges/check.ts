import { type ExchangeState, isFinal } from "../../../core/exchanges.ts";
import { isRoot } from "../../../core/session-tree.ts";
import type { SessionState } from "../../../core/sessions.ts";
import { isTime } from "../../../core/time.ts";

/** Record that is checked, and facts of its session. */
export interface CheckedRecord {
  readonly n: number;
  readonly id: string;
  readonly revision: number;
  readonly parent_n: number | null;
  readonly input_before: number | null;
  readonly output_before: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly error_code: string | null;
  readonly error_sentence: string | null;
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
  readonly resets_at?: string | null | undefined;
  readonly not_before?: string | null | undefined;
}
export interface CheckedSession {
  readonly state: SessionState;
  readonly exchange_open: boolean | number;
  readonly exchange_count?: number | undefined;
  readonly parent_session_id: string | null;
  readonly thread_suffix: number;
  readonly last_seq: number;
}

export interface RecordProblem {
  /** Position of the record in the list; null for a problem of the session's row. */
  readonly index: number | null;
  readonly field: keyof CheckedRecord | "exchange_count";
  /** Begins with "Must". */
  readonly message: string;
}

/** Far above what happens, and far below the numbers that can no longer be counted up exactly. */
const MAX_REVISION = 1_000_000_000;
const MAX_TOKENS = 1_000_000_000_000_000;
const COUNTS = ["input_before", "output_before", "input_tokens", "output_tokens"] as const;

/** Yields what cannot be true of a session's records, which are in order of `n`. */
export function* recordProblems(
  records: readonly CheckedRecord[],
  session: CheckedSession,
): Generator<RecordProblem, undefined> {
  const { exchange_count = 0, thread_suffix, last_seq } = session;
  if (exchange_count !== records.length) {
    yield { index: null, field: "exchange_count", message: "Must be the number of the records." };
  }
  const ids = new Set<string>();
  let open = 0;
  for (const [index, record] of records.entries()) {
    const { state, first_seq, begun_at, ended_at } = record;
    const isOpen = !isFinal(state);
    const isBegun = isOpen && state !== "queued";
    open += isBegun ? 1 : 0;
    const { content = null, authenticated = true, queued_at = null } = record;
    const { resets_at = null, not_before = null } = record;
    const isQueuedText = content === null || (begun_at === null && Boolean(authenticated));
    const isPosition = first_seq === null || (first_seq >= 1 && first_seq <= last_seq + 1);
    const rules: readonly (readonly [keyof CheckedRecord, boolean, string])[] = [
      ["n", record.n === index + 1, "Must count from 1 without holes."],
      ["id", !ids.has(record.id), "Must not be the id of an earlier exchange."],
      ["revision", record.revision <= MAX_REVISION, `Must be at most ${MAX_REVISION}.`],
      [
        "parent_n",
        record.parent_n === null || !isRoot(session),
        "Must be there only in a session with a parent.",
      ],
      ...COUNTS.map((name) => [name, isCount(record[name]), COUNT] as const),
      ...errorRules(record),
      ["state", !isOpen || open <= 1, "Must be final if an earlier exchange is not."],
      ["state", !isOpen || session.state === "active", "Must be final in an ended session."],
      ["state", !isBegun || Boolean(session.exchange_open), "Must be final without exchange_open."],
      ["ended_at", isOpen === (ended_at === null), "Must be there only in a final state."],
      ["ended_at", ended_at === null || isTime(ended_at), "Must be a time."],
      ["begun_at", begun_at === null || isTime(begun_at), "Must be a time."],
      ["begun_at", begun_at !== null || !hasBegun(state), "Must be there in this state."],
      ["content", isQueuedText, "Must be there only until it begins, from a known caller."],
      ["queued_at", queued_at === null || isTime(queued_at), "Must be a time."],
      ["resets_at", resets_at === null || isTime(resets_at), "Must be a time."],
      ["not_before", not_before === null || isTime(not_before), "Must be a time."],
      ["thread_suffix", (record.thread_suffix ?? 0) <= thread_suffix, "Must be a thread's."],
      ["first_seq", isPosition, "Must be the position of a message, or of the next one."],
      ["last_seq", (record.last_seq ?? 0) <= last_seq, "Must be the position of a message."],
      ["last_seq", endsAfterBegin(record), "Must not be before the message before first_seq."],
    ];
    for (const [field, holds, message] of rules) {
      if (!holds) {
        yield { index, field, message };
      }
    }
    ids.add(record.id);
  }
}

const COUNT = `Must be 0 or more, and at most ${MAX_TOKENS}.`;

function isCount(value: number | null): boolean {
  return value === null || (value >= 0 && value <= MAX_TOKENS);
}

function errorRules({ state, error_code, error_sentence }: CheckedRecord) {
  const mayFail = state === "failed" || state === "stopped";
  return [
    ["error_code", error_code === null || mayFail, "Must be there only if it failed or stopped."],
    ["error_code", error_code !== null || state !== "failed", "Must be there if it failed."],
    [
      "error_sentence",
      (error_sentence === null) === (error_code === null),
      "Must be there with an error_code, and only then.",
    ],
  ] as const;
}

function endsAfterBegin({ first_seq, last_seq }: CheckedRecord): boolean {
  return first_seq === null || last_seq === null || last_seq >= first_seq - 1;
}

/** A queued exchange can also be stopped, or fail, before it begins. */
function hasBegun(state: ExchangeState): boolean {
  return ["running", "waiting", "interrupted", "done"].includes(state);
}
