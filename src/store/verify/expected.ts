import { titleOf } from "../../core/text/text.ts";
import { isTime } from "../../core/time.ts";
import { originOf } from "../records/messages/mirror.ts";
import { mirrorColumns } from "../records/messages/mirror-message.ts";
import { clearMark, movedMark } from "./clear-mark.ts";
import type { Match } from "./match.ts";
import type { MirrorCounters, MirrorRow, MirrorState } from "./mirror.ts";
import { isFree, type MatchedMessage, orderedMessages } from "./order.ts";

/** The mirror that the checkpoints ask for. */
export interface ExpectedMirror {
  /** In order; `seq` counts them from 1. A row that was there keeps all that is its own. */
  readonly rows: readonly MirrorRow[];
  readonly counters: MirrorCounters;
  /** How many existing rows move to another position. */
  readonly moved: number;
}

/**
 * Computes the mirror that matches the checkpoints with as few changes as possible: a correct row
 * keeps its position unless another has to be inserted before it, and a message that no checkpoint
 * holds stays between its neighbours, unchanged.
 */
export function expectedMirror(mirror: MirrorState, match: Match): ExpectedMirror {
  const entries = entriesOf(match);
  const moved = entries.filter(({ row }, index) => row !== null && row.seq !== index + 1).length;
  const mark = clearMark(mirror, match);
  const thread_suffix = threadInUse(mirror);
  const cleared_seq = clearedSeq({ mark, entries, moved, threadInUse: thread_suffix });
  const timed = entries.map((entry, index) => {
    const seq = index + 1;
    return { ...rowAt(entry, mirror.session_id), seq, archived: seq <= cleared_seq ? 1 : 0 };
  });
  const isLastAnew = entries.at(-1)?.row === null;
  const isOwn = timed.length > (mirror.forked_from_seq ?? 0);
  const rows = withTimes(timed, isLastAnew && isOwn ? mirror.counters.last_message_at : null);
  return {
    rows,
    moved,
    counters: {
      title: titleFor({ mirror, match, rows }),
      thread_suffix,
      last_seq: rows.length,
      cleared_seq,
      ...totals({ mirror, match, rows }),
      last_message_at: lastMessageAt(mirror, rows),
    },
  };
}

function threadInUse({ counters, heads }: MirrorState): number {
  return Math.max(0, counters.thread_suffix, ...heads.map(({ suffix }) => suffix));
}

/** Entry at a position: a message of a checkpoint, or a row that has none. */
type Entry =
  | (MatchedMessage & { readonly kind: "message" })
  | { readonly kind: "row"; readonly row: MirrorRow; readonly checkpointed: 0 | 1 };

function entriesOf(match: Match): Entry[] {
  const others = otherRows(match);
  const entries: Entry[] = [];
  let present = 0;
  let next = 0;
  const pushOthers = (fits: (row: MirrorRow) => boolean): void => {
    for (let other = others[next]; other !== undefined; other = others[next]) {
      if (other.preceding > present || !fits(other.row)) {
        return;
      }
      entries.push(other);
      next += 1;
    }
  };
  for (const one of orderedMessages(match.messages)) {
    // in front of a message that is missing stays what has its position already
    pushOthers(({ seq }) => one.row !== null || seq <= entries.length + 1);
    entries.push({ ...one, kind: "message" });
    present += one.row === null ? 0 : 1;
  }
  pushOthers(() => true);
  return entries;
}

/** Rows without a message in a checkpoint, and how many rows that have one come before each. */
function otherRows({ messages, pending, misflagged, removed }: Match) {
  const found = messages.flatMap(({ row }) => row?.seq ?? []).sort((a, b) => a - b);
  const others = [
    ...[...pending, ...misflagged].map((row) => ({ row, checkpointed: 0 as const })),
    ...removed.map(({ row, message }) => ({
      row: { ...row, ...mirrorColumns(message) },
      checkpointed: 1 as const,
    })),
  ].sort((a, b) => a.row.seq - b.row.seq);
  let preceding = 0;
  return others.map((other) => {
    while ((found[preceding] ?? Infinity) < other.row.seq) {
      preceding += 1;
    }
    return { ...other, kind: "row" as const, preceding };
  });
}

function clearedSeq(input: {
  /** The right mark among the rows that are there. */
  readonly mark: number;
  readonly entries: readonly Entry[];
  readonly moved: number;
  readonly threadInUse: number;
}): number {
  const { mark, entries, moved, threadInUse } = input;
  const cleared = Math.min(Math.max(mark, 0), entries.length);
  if (moved === 0) {
    return cleared;
  }
  // if every row is after the mark, as after a shift, positions say nothing of what was cleared
  const isPlain = mark === 0 || entries.some(({ row }) => row !== null && row.seq <= mark);
  const marked = entries.map((entry) => {
    const { row } = entry;
    const archived = row?.archived === 1;
    return {
      thread: entry.kind === "message" && !isFree(entry) ? entry.thread : null,
      row: row === null ? null : { archived, cleared: isPlain ? row.seq <= mark : archived },
    };
  });
  return movedMark(marked, { mark: cleared, threadInUse });
}

function rowAt(entry: Entry, session_id: string): MirrorRow {
  if (entry.kind === "row") {
    return { ...entry.row, checkpointed: entry.checkpointed };
  }
  const { row, message, ts } = entry;
  const fresh = {
    session_id,
    message_id: message.message_id,
    ts,
    idempotency_key: null,
    origin: originOf(message),
    authenticated: 1,
    accepted_at: null,
  };
  return {
    ...(row ?? { ...fresh, seq: 0, archived: 0 }),
    ...mirrorColumns(message),
    checkpointed: 1,
  };
}

/** Sums what providers counted, and the estimates of the pending messages; unchanged if that is unknown. */
function totals(input: { mirror: MirrorState; match: Match; rows: readonly MirrorRow[] }) {
  const { messages, removed, inputIsKnown, outputIsKnown } = input.match;
  let total_input_tokens = 0;
  let counted_output_tokens = 0;
  const copied = copiedIds(input);
  const counted = [...messages, ...removed].filter(
    ({ message }) => !copied.has(message.message_id),
  );
  for (const { message } of counted) {
    total_input_tokens += message.usage?.input_tokens ?? 0;
    counted_output_tokens += message.usage?.output_tokens ?? 0;
  }
  for (const row of input.rows) {
    total_input_tokens += row.checkpointed === 0 ? row.token_count : 0;
  }
  const { counters } = input.mirror;
  const total_output_tokens = outputIsKnown ? counted_output_tokens : counters.total_output_tokens;
  const input_tokens_ahead = counters.total_input_tokens - total_input_tokens;
  const isKept = input_tokens_ahead === counters.input_tokens_ahead && input_tokens_ahead >= 0;
  // the total may be ahead of the count by as much as the row says, because it never falls
  return inputIsKnown && !isKept
    ? { total_input_tokens, total_output_tokens, input_tokens_ahead: 0 }
    : {
        total_input_tokens: counters.total_input_tokens,
        total_output_tokens,
        input_tokens_ahead: counters.input_tokens_ahead,
      };
}

/** Messages that a fork has of its origin, which counts them. */
function copiedIds({
  mirror,
  rows,
}: {
  readonly mirror: MirrorState;
  readonly rows: readonly MirrorRow[];
}): ReadonlySet<string> {
  const { forked_from_seq } = mirror;
  const copied = rows.filter(({ seq }) => forked_from_seq !== null && seq <= forked_from_seq);
  return new Set(copied.map(({ message_id }) => message_id));
}

/**
 * A row with an invalid time gets that of the row before it. A last row that is created again gets
 * the time that the session has of it.
 */
function withTimes(rows: readonly MirrorRow[], lastTime: string | null): MirrorRow[] {
  let last = rows.find(({ ts }) => isTime(ts))?.ts ?? new Date(0).toISOString();
  return rows.map((row, index) => {
    const ts = index === rows.length - 1 ? (lastTime ?? row.ts) : row.ts;
    last = isTime(ts) ? ts : last;
    return { ...row, ts: last };
  });
}

/**
 * The title is set once: it may also be that of an earlier text of a user's message, and a row that
 * was not always the user's, or is a summary, may have given one or none.
 */
function titleFor(input: {
  readonly mirror: MirrorState;
  readonly match: Match;
  readonly rows: readonly MirrorRow[];
}): string | null {
  const { mirror, match, rows } = input;
  const { title } = mirror.counters;
  const users = rows.filter(({ role }) => role === "user");
  const sure = users.findIndex(
    ({ message_id, is_summary }) => is_summary === 0 && !match.onceOthers.has(message_id),
  );
  const unsure = sure === -1 ? users : users.slice(0, sure);
  const sureTitle = users[sure] === undefined ? null : titleOf(users[sure].content);
  const texts = [...unsure.map(({ content }) => content), ...match.earlierTexts];
  return title !== null && texts.some((text) => titleOf(text) === title) ? title : sureTitle;
}

/**
 * The last row's time, as both are stored at once; unchanged if that row is earlier than the one
 * before it, so that its own time may be the wrong one.
 */
function lastMessageAt(mirror: MirrorState, rows: readonly MirrorRow[]): string | null {
  const { last_message_at } = mirror.counters;
  const [last, before] = [rows.at(-1), rows.at(-2)];
  if (last === undefined) {
    return null;
  }
  // a fork stored its messages later than its origin
  const isCopied = last.seq <= (mirror.forked_from_seq ?? 0);
  const isEarlier = isCopied || (before !== undefined && last.ts < before.ts);
  const isKnown = last_message_at !== null && isTime(last_message_at);
  return isKnown && isEarlier ? last_message_at : last.ts;
}
