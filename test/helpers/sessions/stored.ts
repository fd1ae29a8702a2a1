import { sql } from "kysely";

import type { ReadOnlyStore } from "../../../src/store/store.ts";
import { readSessionIds } from "../../../src/store/records/sessions/trees/walk.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";

type Readable = Pick<ReadOnlyStore, "read">;

/** The export of every session, sub-agents' too, but for the time at which it was made. */
export async function exportsOf(store: Readable): Promise<Map<string, string>> {
  const ids = await store.read(readSessionIds, { after: "", limit: 1_000_000, roots: false });
  const texts = new Map<string, string>();
  for (const { id } of ids) {
    const tree = await store.read(readSessionTree, { id });
    texts.set(id, [...exportText(tree, "2026-01-01T00:00:00.000Z")].join(""));
  }
  return texts;
}

/** Why a copy does not have a column of its source. */
export const NOT_COPIED: Readonly<Record<string, string>> = {
  "sessions.lease_owner": "a lease is of one database",
  "sessions.lease_epoch": "a lease is of one database",
  "sessions.lease_expires_at": "a lease is of one database",
  "exchanges.epoch": "the epoch of a lease",
  "model_calls.epoch": "the epoch of a lease",
  "model_calls.call": "it counts under a lease",
  "exchanges.attempts_before": "it counts deaths of processes of one database",
  "exchanges.progress": "it counts deaths of processes of one database",
  "questions.answered_epoch": "the epoch of a lease",
  "exchanges.stop_asked_at": "a request to a process that runs",
  "sessions.permission_mode": "consent belongs to the database in which it was given",
  "sessions.permission_rules": "consent belongs to the database in which it was given",
  "questions.answered_here": "consent belongs to the database in which it was given",
  ...Object.fromEntries(
    ["session_id", "number", "kind", "subject", "who", "at"].map((column) => [
      `consents.${column}`,
      "consent belongs to the database in which it was given",
    ]),
  ),
  "plan_runs.checks_accepted": "a person of one database let them be run",
  "plan_runs.number": "it counts the runs of one database",
  "sessions.ready_at": "it follows from the records",
  "sessions.changed": "the numbers of changes are of one database",
  "sessions.created_change": "the numbers of changes are of one database",
  "exchanges.changed": "the numbers of changes are of one database",
  "plan_phases.changed": "the numbers of changes are of one database",
  "questions.changed": "the numbers of changes are of one database",
  "threads.prunes": "it only shows a waiting writer that rows are gone",
  "threads.head_hash": "it depends on numbers of rows, and is created again",
};

/**
 * Columns that hold numbers of rows, which each database gives out itself, and how they are
 * compared: as the place of the row in its thread.
 */
export const NUMBERED = [
  "threads.id",
  "threads.folded_checkpoint",
  "threads.folded_body",
  "threads.folded_list",
  "threads.head_row",
  "checkpoint_bodies.id",
  "checkpoint_bodies.thread",
  "checkpoint_lists.id",
  "checkpoint_lists.thread",
  "checkpoint_lists.base",
  "checkpoint_list_items.list",
  "checkpoint_list_items.body",
  "checkpoints.id",
  "checkpoints.thread",
  "checkpoints.shape",
  "checkpoint_writes.thread",
] as const;

/** JSON that names bodies and lists by their numbers; every export compares what it says. */
export const NUMBERS_INSIDE = [
  "checkpoints.channels",
  "checkpoints.metadata",
  "checkpoint_writes.writes",
] as const;

/**
 * Tables that hold nothing that belongs to a session for good: who shares rows, versions, numbers given out, probes, nodes that
 * run now, what exchanges are writing now, what can be undone on one machine, who gets into one database, and the index of the
 * search.
 */
const BOOKKEEPING = new Set([
  "families",
  "reprise_versions",
  "sqlite_sequence",
  "readiness_probes",
  "nodes",
  "answer_pieces",
  "live_states",
  "deleted_sessions",
  "change_numbers",
  "change_position",
  "file_changes",
  "page_secrets",
  "login_codes",
  "page_logins",
  "session_shares",
]);

/** `table.column` of everything in the database, by its own account. */
export function allColumns(store: Readable): Promise<string[]> {
  return store.read(async ({ db }) => {
    const tables = await db.introspection.getTables();
    return tables
      .filter(({ name }) => !BOOKKEEPING.has(name) && !name.startsWith("search_"))
      .flatMap((table) => table.columns.map(({ name }) => `${table.name}.${name}`))
      .sort();
  }, null);
}

/** The values of one column, over all rows, in an order that no database gives out. */
export function valuesOf(store: Readable, column: string): Promise<readonly unknown[]> {
  const [table = "", name = ""] = column.split(".");
  return store.read(async ({ db }) => {
    const { rows } = await sql<Record<string, unknown>>`
      SELECT ${valueOf(table, name)} AS value FROM ${sql.raw(JOINED[table] ?? table)}
      ORDER BY ${sql.raw(ORDER[table] ?? "")}`.execute(db);
    return rows.map(({ value }) => value);
  }, null);
}

const thread = (table: string): string => `${table} JOIN threads AS t ON t.id = ${table}.thread`;

const JOINED: Readonly<Record<string, string>> = {
  checkpoint_bodies: thread("checkpoint_bodies"),
  checkpoint_lists: thread("checkpoint_lists"),
  checkpoint_list_items:
    "checkpoint_list_items JOIN checkpoint_lists AS l ON l.id = list JOIN threads AS t ON t.id = l.thread",
  checkpoints: thread("checkpoints"),
  checkpoint_writes: thread("checkpoint_writes"),
};

const ORDER: Readonly<Record<string, string>> = {
  sessions: "id",
  messages: "session_id, seq",
  session_changes: "session_id, number",
  exchanges: "session_id, n",
  model_calls: "session_id, n, epoch, call",
  model_usage: "session_id",
  questions: "session_id, thread_suffix, call_id, number",
  session_metadata: "session_id, key",
  plan_runs: "session_id",
  plan_phases: "session_id, key",
  threads: "thread_id",
  checkpoint_bodies: "t.thread_id, checkpoint_bodies.id",
  checkpoint_lists: "t.thread_id, checkpoint_lists.id",
  checkpoint_list_items: "t.thread_id, list, position",
  checkpoints: "t.thread_id, checkpoints.id",
  checkpoint_writes: "t.thread_id, ns, checkpoint_id, task_id",
};

/** Rows of this thread up to the number: the same number in every database. */
function place(table: string, number: string, threadId: string) {
  return sql.raw(
    `(SELECT count(*) FROM ${table} AS p WHERE p.thread = ${threadId} AND p.id <= ${number})`,
  );
}

function valueOf(table: string, name: string) {
  const column = `${table}.${name}`;
  switch (column) {
    case "threads.folded_checkpoint":
      return place("checkpoints", name, "threads.id");
    case "threads.folded_body":
      return place("checkpoint_bodies", name, "threads.id");
    case "threads.folded_list":
      return place("checkpoint_lists", name, "threads.id");
    case "threads.head_row":
      return place("checkpoints", name, "threads.id");
    case "threads.id":
      return sql.raw("thread_id");
    case "checkpoint_bodies.id":
    case "checkpoint_lists.id":
    case "checkpoints.id":
      return place(table, column, "t.id");
    case "checkpoint_list_items.list":
      return place("checkpoint_lists", column, "t.id");
    case "checkpoint_lists.base":
      return place("checkpoint_lists", column, "t.id");
    case "checkpoint_list_items.body":
    case "checkpoints.shape":
      return place("checkpoint_bodies", column, "t.id");
    default:
      return name === "thread" ? sql.raw("t.thread_id") : sql.raw(column);
  }
}

export const TABLES = [
  "sessions",
  "messages",
  "session_changes",
  "exchanges",
  "questions",
  "session_metadata",
  "threads",
  "checkpoint_bodies",
  "checkpoint_lists",
  "checkpoint_list_items",
  "checkpoints",
  "checkpoint_writes",
] as const;

/** How many rows each table has. */
export function rowCounts(store: Readable): Promise<Record<string, number>> {
  return store.read(async (tx) => {
    const counts: Record<string, number> = {};
    for (const table of TABLES) {
      const { rows } = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`
        .execute(tx.db)
        .then((answer) => answer.rows[0] ?? { rows: -1 });
      counts[table] = rows;
    }
    return counts;
  }, null);
}

/** Columns of a table by the database's own account. */
export function columnsOf(store: Readable, table: string): Promise<string[]> {
  return store.read(async (tx) => {
    const tables = await tx.db.introspection.getTables();
    return tables.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? [];
  }, null);
}
