import { hash } from "node:crypto";

import type { Selectable } from "kysely";

import type { Activity, SessionState } from "../../core/sessions.ts";
import { parseThreadId } from "../../core/threads.ts";
import type { MessageTable, SessionTable } from "../tables/database.ts";
import { type StoredRecord, readRecord } from "./record.ts";
import { readSession } from "../records/sessions/read.ts";
import { threadRange } from "../records/sessions/tree-ids.ts";
import type { Tx } from "../store.ts";

/** A row of the mirror with every column it has. */
export type MirrorRow = Selectable<MessageTable>;

/** Columns of a session's row that follow from its messages, and the threads that it has begun. */
const COUNTERS = [
  "title",
  "thread_suffix",
  "last_seq",
  "cleared_seq",
  "total_input_tokens",
  "total_output_tokens",
  "input_tokens_ahead",
  "last_message_at",
] as const;
export type MirrorCounters = Pick<Selectable<SessionTable>, (typeof COUNTERS)[number]>;

/** The latest root checkpoint of a thread. */
export interface ThreadHead extends KnownHead {
  /** The thread's number in the checkpoint tables. */
  readonly thread: number;
  /** The checkpoint's row. */
  readonly row: number;
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly shape: number;
  readonly versions: string;
  /** JSON as stored: it may be damaged. */
  readonly channels: string;
  readonly metadata: string;
  readonly head_length: number;
  readonly head_hash: string;
}

/** The mirror of a session, stored or in an export. */
export interface MirrorState {
  readonly session_id: string;
  readonly counters: MirrorCounters;
  /** The name of the agent whose graph it runs; null for the built-in one. */
  readonly agent: string | null;
  /** The last message that a fork has of its origin; null for another session. */
  readonly forked_from_seq: number | null;
  /** Ascending by `seq`. */
  readonly rows: readonly MirrorRow[];
  /** Ascending by suffix; threads without a checkpoint are not among them. */
  readonly heads: readonly KnownHead[];
}

interface KnownHead {
  readonly thread_id: string;
  readonly suffix: number;
  readonly ts: string;
  /** The row of the thread's mark (`checkpoints/head-mark.ts`); 0 if it has none. */
  readonly head_row: number;
}

/** A session's mirror as stored, and which checkpoints it has to agree with. */
export interface Mirror extends MirrorState {
  readonly state: SessionState;
  readonly activity: Activity;
  readonly heads: readonly ThreadHead[];
  /** Ids of threads that had a checkpoint and have none. */
  readonly lost: readonly string[];
  readonly record: StoredRecord;
}

/** Error codes: `session_not_found`. */
export async function readMirror(tx: Tx, session_id: string): Promise<Mirror> {
  const { state, activity } = await readSession(tx, { id: session_id });
  const { agent, forked_from_seq, ...counters } = await tx.db
    .selectFrom("sessions")
    .select([...COUNTERS, "agent", "forked_from_seq"])
    .where("id", "=", session_id)
    .executeTakeFirstOrThrow();
  const rows = await tx.db
    .selectFrom("messages")
    .selectAll()
    .where("session_id", "=", session_id)
    .orderBy("seq")
    .execute();
  const heads = await readHeads(tx, session_id);
  const lost = await readLost(tx, { session_id, heads });
  const record = await readRecord(tx, session_id);
  const stored = { counters, agent, forked_from_seq, rows, heads, lost, record };
  return { session_id, state, activity, ...stored };
}

/** Reads the latest root checkpoint of each thread of a session, the first thread first. */
export async function readHeads(tx: Tx, session_id: string): Promise<ThreadHead[]> {
  const { from, before } = threadRange(session_id);
  const rows = await tx.db
    .selectFrom("checkpoints")
    .innerJoin("threads", "threads.id", "checkpoints.thread")
    .select(["thread_id", "thread", "head_row", "head_length", "head_hash"])
    .select(["checkpoints.id as row", "checkpoint_id", "parent_id", "ts"])
    .select(["shape", "versions", "channels", "metadata"])
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .where(({ eb, selectFrom }) =>
      eb(
        "checkpoints.id",
        "=",
        selectFrom("checkpoints as later")
          .select((later) => later.fn.max("later.id").as("latest"))
          .whereRef("later.thread", "=", "threads.id")
          .where("later.ns", "=", ""),
      ),
    )
    .execute();
  return rows
    .flatMap((row) => {
      const thread = parseThreadId(row.thread_id);
      return thread === null ? [] : [{ ...row, suffix: thread.suffix }];
    })
    .sort((a, b) => a.suffix - b.suffix);
}

async function readLost(
  tx: Tx,
  { session_id, heads }: Pick<Mirror, "session_id" | "heads">,
): Promise<string[]> {
  const { from, before } = threadRange(session_id);
  const marked = await tx.db
    .selectFrom("threads")
    .select("thread_id")
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .where("head_row", ">", 0)
    .orderBy("thread_id")
    .execute();
  const present = new Set(heads.map(({ thread_id }) => thread_id));
  return marked.map(({ thread_id }) => thread_id).filter((id) => !present.has(id));
}

/** Returns one text for one mirror and its checkpoints: shows whether anything has changed since. */
export function mirrorVersion({ counters, rows, heads, lost }: Mirror): string {
  return hash("sha256", JSON.stringify([counters, rows, heads, lost]), "base64url");
}
