import { type Expression, sql } from "kysely";

import { lockSession } from "../sessions/lock.ts";
import { MAX_ANCESTORS } from "../sessions/tree-ids.ts";
import type { Operation, Tx } from "../../store.ts";

/** The ids of a session and of all below it, sub-agents or not, for an `in`. */
export function withinTree(id: string) {
  return sql<string>`(
    with recursive tree (id) as (
      select sessions.id from sessions where sessions.id = ${id}
      union
      select below.id from sessions as below join tree on below.parent_session_id = tree.id
    ) select id from tree
  )`;
}

/** The ids of a session and of its sub-agents, for an `in`: of all whose questions its exchange waits for. */
export function withinDelegation(id: string | Expression<string>) {
  return sql<string>`(
    with recursive tree (id) as (
      select sessions.id from sessions where sessions.id = ${id}
      union
      select below.id from sessions as below join tree on below.parent_session_id = tree.id
      where below.parent_call_id is not null
    ) select id from tree
  )`;
}

/**
 * Returns the end of a path that one exchange waits for: from the session that no call began down to the last one of
 * the path, which is a sub-agent of those before it.
 */
export async function delegationOf(tx: Tx, path: readonly string[]): Promise<readonly string[]> {
  if (path.length === 1) {
    return path;
  }
  const rows = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "in", path)
    .where("parent_call_id", "is", null)
    .execute();
  const top = path.findLastIndex((id) => rows.some((row) => row.id === id));
  return path.slice(Math.max(top, 0));
}

/** Returns the session whose exchange a node runs to continue this one. */
export const delegationTop: Operation<string, string> = async (tx, id) => {
  const [top = id] = await delegationOf(tx, await pathTo(tx, id, null));
  return top;
};

/** Wakes who watches the session that asks, or one above it. */
export async function touchPath(tx: Tx, id: string): Promise<void> {
  for (const each of await pathTo(tx, id, null)) {
    tx.touch(each);
  }
}

/**
 * Holds the rows of the sessions above this one and its own until the transaction ends, a session before
 * those below it as everywhere. Returns their ids.
 */
export async function lockPath(tx: Tx, id: string): Promise<readonly string[]> {
  const path = await pathTo(tx, id, null);
  for (const each of path) {
    await lockSession(tx, each);
  }
  return path;
}

/**
 * The sessions from `top` down to `id`, each once; from the highest one if `top` is not above it, or before their parents
 * form a cycle.
 */
export async function pathTo(tx: Tx, id: string, top: string | null): Promise<string[]> {
  const path = [id];
  for (let at: string | null = id; at !== null && at !== top && path.length < MAX_ANCESTORS;) {
    const row: { parent_session_id: string | null } | undefined = await tx.db
      .selectFrom("sessions")
      .select("parent_session_id")
      .where("id", "=", at)
      .executeTakeFirst();
    const above: string | null = row?.parent_session_id ?? null;
    at = above === null || path.includes(above) ? null : above;
    path.unshift(...(at === null ? [] : [at]));
  }
  return path;
}
