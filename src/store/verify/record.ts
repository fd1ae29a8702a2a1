import type { Selectable } from "kysely";

import type { SessionTable } from "../schema.ts";
import type { Operation, Tx } from "../store.ts";

/** What a session's row says of the session, beside what follows from its messages. */
export type SessionRecord = Pick<
  Selectable<SessionTable>,
  | "id"
  | "state"
  | "depth"
  | "parent_session_id"
  | "parent_call_id"
  | "repo_path"
  | "project_key"
  | "ended_at"
>;

export interface StoredRecord {
  readonly row: SessionRecord;
  /** The parent; null where none is named or no session is the one that is. */
  readonly parent: { readonly depth: number; readonly knowsCall: boolean } | null;
  /** How many sessions are above this one; null where they go round in a circle. */
  readonly above: number | null;
}

export async function readRecord(tx: Tx, session_id: string): Promise<StoredRecord> {
  const row = await tx.db
    .selectFrom("sessions")
    .select(["id", "state", "depth", "parent_session_id", "parent_call_id"])
    .select(["repo_path", "project_key", "ended_at"])
    .where("id", "=", session_id)
    .executeTakeFirstOrThrow();
  return { row, ...(await readParents(tx, row)) };
}

/** Deeper than any tree of sub-agents, and the end of a circle. */
const MOST_ABOVE = 100;

async function readParents(tx: Tx, row: SessionRecord): Promise<Omit<StoredRecord, "row">> {
  let parent: StoredRecord["parent"] = null;
  let next = row.parent_session_id;
  for (let above = 0; above < MOST_ABOVE; above += 1) {
    if (next === null) {
      return { parent, above };
    }
    const found = await tx.db
      .selectFrom("sessions")
      .select(["id", "depth", "parent_session_id"])
      .where("id", "=", next)
      .executeTakeFirst();
    if (found === undefined) {
      return { parent, above };
    }
    parent ??= { depth: found.depth, knowsCall: await knowsCall(tx, row) };
    next = found.parent_session_id;
  }
  return { parent, above: null };
}

/** True where the parent's messages or checkpoints name the call, or nobody can tell. */
async function knowsCall(
  tx: Tx,
  { parent_session_id, parent_call_id }: SessionRecord,
): Promise<boolean> {
  if (parent_session_id === null || parent_call_id === null || !/^[\w-]+$/.test(parent_call_id)) {
    return true;
  }
  const pattern = `%"${parent_call_id}"%`;
  const row = await tx.db
    .selectFrom("messages")
    .select("seq")
    .where("session_id", "=", parent_session_id)
    .where("tool_calls", "like", pattern)
    .limit(1)
    .executeTakeFirst();
  if (row !== undefined) {
    return true;
  }
  const body = await tx.db
    .selectFrom("checkpoint_bodies")
    .innerJoin("checkpoint_threads", "checkpoint_threads.id", "checkpoint_bodies.thread")
    .select("checkpoint_bodies.id")
    .where("thread_id", ">=", `${parent_session_id}:`)
    .where("thread_id", "<", `${parent_session_id};`)
    .where("body", "like", pattern)
    .limit(1)
    .executeTakeFirst();
  return body !== undefined;
}

export interface Orphans {
  readonly session_id: string;
  readonly messages: number;
}

/** Messages of sessions that have no row any more, by session. */
export const readOrphans: Operation<null, readonly Orphans[]> = ({ db }) =>
  db
    .selectFrom("messages")
    .leftJoin("sessions", "sessions.id", "messages.session_id")
    .select(["session_id", ({ fn }) => fn.countAll<number>().as("messages")])
    .where("sessions.id", "is", null)
    .groupBy("session_id")
    .orderBy("session_id")
    .execute();
