import type { Selectable } from "kysely";

import type { Entry } from "../../../core/files/file-entries.ts";
import { batches } from "../threads/bodies.ts";
import { withinTree } from "../questions/tree.ts";
import type { Operation, Tx } from "../../store.ts";
import type { FileChangeTable } from "../../tables/file-changes.ts";

/** A change of one path, as it was stored. */
export interface FileChange extends Omit<FileChangeTable, "entry_before" | "entry_after"> {
  readonly before: Entry | null;
  readonly after: Entry | null;
}

/** An exchange of a session, by its number. */
export interface ExchangeKey {
  readonly session_id: string;
  readonly n: number;
}

/** Reads what an exchange and the sub-agents that it began changed, in the order in which it was done. */
export const readFileChanges: Operation<ExchangeKey, readonly FileChange[]> = async (tx, key) => {
  const rows: FileChange[] = [];
  for (const each of await withSubAgents(tx, key)) {
    rows.push(...(await changesOf(tx, each)));
  }
  return rows.toSorted(
    (a, b) => compare(a.ts, b.ts) || compare(a.session_id, b.session_id) || a.number - b.number,
  );
};

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The exchange, and those of sub-agents that it began, with the ones that these began; each once. */
async function withSubAgents(tx: Tx, key: ExchangeKey): Promise<readonly ExchangeKey[]> {
  const keys = new Map([[nameOf(key), key]]);
  for (const { session_id, n } of keys.values()) {
    const begun = await tx.db
      .selectFrom("exchanges")
      .innerJoin("sessions", "sessions.id", "exchanges.session_id")
      .select(["exchanges.session_id", "exchanges.n"])
      .where("sessions.parent_session_id", "=", session_id)
      .where("exchanges.parent_n", "=", n)
      .execute();
    begun.forEach((each) => keys.set(nameOf(each), each));
  }
  return [...keys.values()];
}

function nameOf({ session_id, n }: ExchangeKey): string {
  return `${session_id} ${n}`;
}

async function changesOf(tx: Tx, { session_id, n }: ExchangeKey): Promise<readonly FileChange[]> {
  const rows = await tx.db
    .selectFrom("file_changes")
    .selectAll()
    .where("session_id", "=", session_id)
    .where("n", "=", n)
    .orderBy("number")
    .execute();
  return rows.map(changeOf);
}

/** The paths below a folder that a session has changed. */
export const readChangedPaths: Operation<
  { readonly session_id: string; readonly root: string },
  readonly string[]
> = async (tx, { session_id, root }) => {
  const rows = await tx.db
    .selectFrom("file_changes")
    .select("path")
    .distinct()
    .where("session_id", "=", session_id)
    .where("root", "=", root)
    .execute();
  return rows.map(({ path }) => path);
};

/** Reads what these calls of a session changed, in the order in which it was done. */
export const readChangesOfCalls: Operation<
  { readonly session_id: string; readonly call_ids: readonly string[] },
  readonly FileChange[]
> = async (tx, { session_id, call_ids }) => {
  const rows: FileChange[] = [];
  for (const batch of batches(call_ids)) {
    const found = await tx.db
      .selectFrom("file_changes")
      .selectAll()
      .where("session_id", "=", session_id)
      .where("call_id", "in", batch)
      .execute();
    rows.push(...found.map(changeOf));
  }
  return rows.toSorted((a, b) => a.number - b.number);
};

function changeOf({ entry_before, entry_after, ...row }: Selectable<FileChangeTable>): FileChange {
  return { ...row, before: entryOf(entry_before), after: entryOf(entry_after) };
}

function entryOf(json: string | null): Entry | null {
  return json === null ? null : (JSON.parse(json) as Entry);
}

/** An exchange of a session with what it and its sub-agents changed in files. */
export interface ChangedExchange {
  readonly n: number;
  readonly changes: number;
  /** How many of them were taken back. */
  readonly undone: number;
  /** When the last one was. */
  readonly undone_at: string | null;
}

/** The exchanges of a session that changed files, the latest first. */
export const listChangedExchanges: Operation<
  { readonly session_id: string },
  readonly ChangedExchange[]
> = async (tx, { session_id }) => {
  const rows = await tx.db
    .selectFrom("file_changes")
    .select(({ fn }) => [
      "session_id",
      "n",
      fn.countAll<number>().as("changes"),
      fn.count<number>("undone_at").as("undone"),
      fn.max("undone_at").as("undone_at"),
    ])
    .where("session_id", "in", withinTree(session_id))
    .groupBy(["session_id", "n"])
    .execute();
  const found = new Map<number, ChangedExchange>();
  for (const row of rows) {
    const n = await numberAbove(tx, row, session_id);
    const other = found.get(n);
    found.set(n, {
      n,
      changes: row.changes + (other?.changes ?? 0),
      undone: row.undone + (other?.undone ?? 0),
      undone_at: later(row.undone_at, other?.undone_at ?? null),
    });
  }
  found.delete(UNKNOWN);
  return [...found.values()].toSorted((a, b) => b.n - a.n);
};

/** Lists the exchanges that changed files and began after a message, or ended after it. */
export const listChangedAfter: Operation<
  { readonly session_id: string; readonly after_seq: number },
  readonly ChangedExchange[]
> = async (tx, { session_id, after_seq }) => {
  const rows = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    .where(({ eb, or }) => or([eb("first_seq", ">", after_seq), eb("last_seq", ">", after_seq)]))
    .execute();
  const after = new Set(rows.map(({ n }) => n));
  return (await listChangedExchanges(tx, { session_id })).filter(({ n }) => after.has(n));
};

function later(a: string | null, b: string | null): string | null {
  return (a ?? "") < (b ?? "") ? b : a;
}

/** Number of an exchange of a sub-agent that no exchange above it began. */
const UNKNOWN = -1;

/** The exchange of `top` that began this one, through the sessions between them. */
async function numberAbove(tx: Tx, key: ExchangeKey, top: string): Promise<number> {
  let { session_id, n } = key;
  while (session_id !== top) {
    const above = await tx.db
      .selectFrom("exchanges")
      .innerJoin("sessions", "sessions.id", "exchanges.session_id")
      .select(["sessions.parent_session_id", "exchanges.parent_n"])
      .where("exchanges.session_id", "=", session_id)
      .where("exchanges.n", "=", n)
      .executeTakeFirst();
    if (above === undefined || above.parent_session_id === null || above.parent_n === null) {
      return UNKNOWN;
    }
    session_id = above.parent_session_id;
    n = above.parent_n;
  }
  return n;
}
