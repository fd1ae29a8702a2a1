import { threadId } from "../../core/threads.ts";
import { isTime } from "../../core/time.ts";
import { MIRROR_COLUMNS, mirrorColumns } from "../records/messages/mirror-message.ts";
import type { DamagedThread } from "./checkpoint-messages.ts";
import { clearMark } from "./clear-mark.ts";
import { about, type Difference, type DifferenceKind } from "./difference.ts";
import type { ExpectedMirror } from "./expected.ts";
import type { Match } from "./match.ts";
import type { MirrorRow, MirrorState } from "./mirror.ts";
import { misplacedRows } from "./order.ts";
import type { HeadProblem } from "./read.ts";

export interface Comparison {
  readonly mirror: MirrorState;
  readonly damaged: readonly DamagedThread[];
  readonly match: Match;
  readonly expected: ExpectedMirror;
}

/** Every difference between a mirror and its checkpoints; none if the two agree. */
export function compareMirror(input: Comparison): Difference[] {
  const damaged = input.damaged.map(({ thread_id, problem }) =>
    about(
      "checkpoint_damaged",
      `The latest checkpoint of thread ${thread_id} ${HEAD_PROBLEMS[problem]}`,
    ),
  );
  if (damaged.length > 0) {
    // without a thread's messages every row of it would look like an extra one
    return damaged;
  }
  const rows = [...missing(input), ...unexplained(input), ...rowByRow(input), ...misplaced(input)];
  return [...rows, ...positions(input, rows), ...counters(input)];
}

const HEAD_PROBLEMS: Readonly<Record<HeadProblem, string>> = {
  unreadable: "is damaged, so what it says is not known; restore a backup.",
  lost: "is missing: the agent would continue from an earlier one; restore a backup.",
  changed: "has changed since it was stored; restore a backup.",
};

function missing({ match }: Comparison): Difference[] {
  return match.messages
    .filter(({ row }) => row === null)
    .map(({ message, thread }) => ({
      kind: "missing",
      seq: null,
      message_id: message.message_id,
      sentence: `A message (${message.role}) of thread ${thread} has no row.`,
    }));
}

/**
 * Rows that no checkpoint holds although they say so, or although only one could have made them.
 */
function unexplained({ mirror, match }: Comparison): Difference[] {
  const rows = [...match.misflagged, ...match.extra].sort((a, b) => a.seq - b.seq);
  const lost = threadWithoutCheckpoint(mirror);
  if (lost !== null) {
    return rows.map((row) =>
      at(
        row,
        "checkpoint_missing",
        `Message ${row.seq} is in no checkpoint, and thread ${lost} has none: the row may be the only copy.`,
      ),
    );
  }
  return rows.map((row) =>
    row.role === "user"
      ? at(row, "pending", `Message ${row.seq} counts as handed over, but no checkpoint holds it.`)
      : at(row, "extra", `Message ${row.seq} (${row.role}) is in no checkpoint.`),
  );
}

/**
 * The first thread that has not begun, or whose checkpoints are gone: the two cannot
 * be distinguished.
 */
function threadWithoutCheckpoint({ session_id, counters, heads }: MirrorState): string | null {
  const begun = new Set(heads.map(({ suffix }) => suffix));
  for (let suffix = 0; suffix <= counters.thread_suffix; suffix += 1) {
    if (!begun.has(suffix)) {
      return threadId(session_id, suffix);
    }
  }
  return null;
}

function rowByRow({ mirror, match }: Comparison): Difference[] {
  const findings: Difference[] = [];
  for (const { row, message } of [...match.messages, ...match.removed]) {
    if (row === null) {
      continue;
    }
    const columns = mirrorColumns(message);
    // exports of the builds before the baseline may not name these
    const compared = [
      ...MIRROR_COLUMNS,
      ...(row.call_id === null ? [] : (["call_id"] as const)),
      ...(row.status === null && message.isMarked !== true ? [] : (["status"] as const)),
    ];
    const differing = compared.filter((column) => row[column] !== columns[column]);
    if (differing.length > 0) {
      const sentence = `Message ${row.seq} differs from its checkpoint in ${differing.join(", ")}.`;
      findings.push(at(row, "different", sentence));
    }
    if (row.checkpointed !== 1) {
      const sentence = `Message ${row.seq} counts as pending, but a checkpoint holds it.`;
      findings.push(at(row, "pending", sentence));
    }
  }
  const cleared_seq = clearMark(mirror, match);
  for (const row of mirror.rows) {
    if (!isTime(row.ts)) {
      findings.push(at(row, "ts", `The time of message ${row.seq} is none.`));
    }
    if ((row.archived === 1) !== row.seq <= cleared_seq) {
      const state = row.archived === 1 ? "archived, but was never cleared" : "cleared, but shown";
      findings.push(at(row, "archived", `Message ${row.seq} is ${state}.`));
    }
  }
  return findings;
}

function misplaced({ match }: Comparison): Difference[] {
  return misplacedRows(match.messages).map((row) =>
    at(row, "order", `Message ${row.seq} comes before one that it has to follow.`),
  );
}

/** Holes that no other finding explains. */
function positions({ mirror, expected }: Comparison, found: readonly Difference[]): Difference[] {
  const explained = found.some(({ kind }) => ["missing", "extra", "order"].includes(kind));
  if (expected.moved === 0 || explained) {
    return [];
  }
  const hole = mirror.rows.findIndex(({ seq }, index) => seq !== index + 1) + 1;
  return [about("seq", `The positions of the messages have a hole at ${hole}.`)];
}

const TOTALS = ["total_input_tokens", "total_output_tokens", "input_tokens_ahead"] as const;

function counters({ mirror, expected }: Comparison): Difference[] {
  const { counters: have } = mirror;
  const { counters: want } = expected;
  const findings: Difference[] = TOTALS.filter((total) => have[total] !== want[total]).map(
    (total) => about("totals", `${total} is ${have[total]} and should be ${want[total]}.`),
  );
  if (have.last_seq !== want.last_seq) {
    findings.push(
      about("last_seq", `last_seq is ${have.last_seq} and should be ${want.last_seq}.`),
    );
  }
  // if rows have to move, the mark moves with them
  if (expected.moved === 0 && have.cleared_seq !== want.cleared_seq) {
    findings.push(
      about(
        "archived",
        `The clear mark is ${have.cleared_seq} and should be ${want.cleared_seq}, as the messages are shown.`,
      ),
    );
  }
  if (have.thread_suffix !== want.thread_suffix) {
    const sentence = `thread_suffix is ${have.thread_suffix}, and should be ${want.thread_suffix}.`;
    findings.push(about("thread_suffix", sentence));
  }
  if (have.title !== want.title) {
    findings.push(about("title", "title is not that of the first user message."));
  }
  // a row that is missing or too much explains it
  if (have.last_message_at !== want.last_message_at && have.last_seq === want.last_seq) {
    findings.push(about("last_message_at", "last_message_at is not the last message's time."));
  }
  return findings;
}

function at(row: MirrorRow, kind: DifferenceKind, sentence: string): Difference {
  return { kind, seq: row.seq, message_id: row.message_id, sentence };
}
