import { createHash } from "node:crypto";

import { sql } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { batches } from "../../records/threads/bodies.ts";
import { isGone, type LeaseOwner } from "../../records/leases/this-process.ts";
import { treeIdsOf } from "../../records/sessions/tree-ids.ts";
import type { Operation, Tx } from "../../store.ts";

/** A session in a database, without what it holds. */
export interface Outline {
  /** Its name, else its title; null if it has neither. */
  readonly title: string | null;
  /** Equal texts of two databases are of the same state of the session and its sub-agents. */
  readonly text: string;
  readonly isRoot: boolean;
  readonly isPinned: boolean;
  /** True if a process holds the session or a sub-agent, by the database's clock. */
  readonly isHeld: boolean;
  /** Bytes of its messages and of the values of its checkpoints. */
  readonly bytes: number;
}

export interface FoundSession {
  /** Null if the database does not have it. */
  readonly outline: Outline | null;
  /** True if the database knows that it was deleted. */
  readonly isDeleted: boolean;
}

/** Finds a session of the list, or its deletion. Costs a small part of reading it. Error codes: none. */
export const findSession: Operation<{ readonly id: string }, FoundSession> = async (tx, { id }) => {
  const deleted = await deletedOf(tx, [id]);
  const row = await tx.db
    .selectFrom("sessions")
    .select(["parent_session_id", "name", "title", "pinned_at"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) {
    return { outline: null, isDeleted: deleted.size > 0 };
  }
  const outline = await outlineOf(tx, await treeIdsOf(tx, id));
  return {
    outline: {
      ...outline,
      title: row.name ?? row.title,
      isRoot: row.parent_session_id === null,
      isPinned: row.pinned_at !== null,
    },
    isDeleted: false,
  };
};

/** Picks the sessions that were deleted and are not there again. Error codes: none. */
export const readDeleted: Operation<readonly string[], ReadonlySet<string>> = (tx, ids) =>
  deletedOf(tx, ids);

async function deletedOf({ db }: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const deleted = new Set<string>();
  for (const batch of batches(ids)) {
    const rows = await db
      .selectFrom("deleted_sessions")
      .leftJoin("sessions", "sessions.id", "deleted_sessions.id")
      .select("deleted_sessions.id")
      .where("deleted_sessions.id", "in", batch)
      .where("sessions.id", "is", null)
      .execute();
    for (const row of rows) {
      deleted.add(row.id);
    }
  }
  return deleted;
}

const COLUMNS = [
  "id",
  "parent_session_id",
  "state",
  "ended_at",
  "name",
  "named_at",
  "archive_changed_at",
  "pin_changed_at",
  "metadata_changed_at",
  "repo_path",
  "thread_suffix",
  "last_seq",
  "cleared_seq",
  "exchange_open",
  "exchange_count",
] as const;

async function outlineOf(
  tx: Tx,
  ids: readonly string[],
): Promise<Omit<Outline, "isRoot" | "isPinned" | "title">> {
  const texts: string[] = [];
  let isHeld = false;
  let bytes = 0;
  for (const batch of batches(ids)) {
    const rows = await tx.db
      .selectFrom("sessions")
      .select(COLUMNS)
      .select(countOf("exchanges", "ended_at is not null").as("final"))
      .select(countOf("questions", "state <> 'open'").as("answered"))
      .select(countOf("session_changes", "1 = 1").as("changes"))
      .where("id", "in", batch)
      .execute();
    isHeld ||= await areHeld(tx, batch);
    for (const row of rows) {
      const messages = await messagesOf(tx, row.id);
      const threads = await threadsOf(tx, row.id);
      bytes += messages.bytes + threads.bytes;
      // engines return numbers in different forms
      const values = Object.values(row).map((value) => (value === null ? null : String(value)));
      texts.push(JSON.stringify([values, messages.digest, threads.heads]));
    }
  }
  return { text: texts.toSorted().join("\n"), isHeld, bytes };
}

function countOf(table: string, condition: string) {
  return sql<number>`(select count(*) from ${sql.table(table)}
    where session_id = sessions.id and ${sql.raw(condition)})`;
}

/** True if a process holds one of these sessions, also if nothing can be read of it. */
export async function areHeld(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const held = await tx.db
    .selectFrom("sessions")
    .select("lease_owner")
    .where("id", "in", ids)
    .where("lease_expires_at", ">", tx.dialect.now())
    .execute();
  return held.some(({ lease_owner }) => {
    const owner = lease_owner === null ? null : parsed(lease_owner);
    return lease_owner !== null && (owner === null || !isGone(owner));
  });
}

function parsed(text: string): LeaseOwner | null {
  try {
    return JSON.parse(text) as LeaseOwner;
  } catch {
    return null;
  }
}

async function messagesOf({ db }: Tx, id: string) {
  const rows = await db
    .selectFrom("messages")
    .select(["message_id", sql<number>`octet_length(content)`.as("bytes")])
    .where("session_id", "=", id)
    .orderBy("seq")
    .execute();
  const digest = createHash("sha256");
  let bytes = 0;
  for (const row of rows) {
    digest.update(`${row.message_id}\n`);
    bytes += row.bytes;
  }
  return { digest: digest.digest("hex"), bytes };
}

/** The latest checkpoint of each thread of a session. */
async function threadsOf({ db }: Tx, id: string) {
  const rows = await db
    .selectFrom("threads")
    .leftJoin("checkpoints", "checkpoints.id", "threads.head_row")
    .select(["thread_id", "checkpoint_id"])
    .select(
      sql<number>`(select coalesce(sum(octet_length(body)), 0) from checkpoint_bodies
        where checkpoint_bodies.thread = threads.id)`.as("bytes"),
    )
    .where("thread_id", ">=", `${id}:`)
    .where("thread_id", "<", `${id};`)
    .execute();
  return {
    heads: rows.map((row) => `${row.thread_id} ${row.checkpoint_id ?? ""}`).toSorted(),
    bytes: rows.reduce((sum, row) => sum + row.bytes, 0),
  };
}

/**
 * Refuses ids that other sessions have: those of another tree than `root`, or any if that is null.
 *
 * Error codes: `session_exists`.
 */
export const refuseTaken: Operation<
  { readonly ids: readonly string[]; readonly root: string | null },
  void
> = async (tx, { ids, root }) => {
  for (const batch of batches(ids)) {
    const taken = await tx.db
      .selectFrom("sessions")
      .select("id")
      .where("id", "in", batch)
      .where(({ eb, or }) =>
        or([eb("root_session_id", "is", null), eb("root_session_id", "<>", root ?? "")]),
      )
      .executeTakeFirst();
    if (taken !== undefined) {
      throw sessionTaken();
    }
  }
};

function sessionTaken(): RepriseError {
  return new RepriseError(
    "session_exists",
    "The other database has another session with the id of a sub-agent of this one. Delete one of them.",
  );
}
