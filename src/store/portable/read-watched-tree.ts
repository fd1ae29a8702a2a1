import { sql } from "kysely";

import { batches } from "../records/threads/bodies.ts";
import type { LeaseOwner } from "../records/leases/this-process.ts";
import { treeIdsOf } from "../records/sessions/tree-ids.ts";
import type { IdPage } from "../records/sessions/trees/walk.ts";
import type { Operation, Tx } from "../store.ts";
import { type SessionTree, sessionsOf } from "./export-schema.ts";
import { readSessionTree } from "./read-tree.ts";

export interface WatchedTree {
  readonly tree: SessionTree;
  /**
   * Who holds one of its sessions by the database's clock; the tree is then of amid an exchange.
   */
  readonly owners: readonly LeaseOwner[];
  /** Version of each of its sessions, by id; see `SessionVersion`. */
  readonly versions: ReadonlyMap<string, SessionVersion>;
  /** The `prefix_mark` of each of its sessions, by id. */
  readonly marks: ReadonlyMap<string, string | null>;
}

/** A text that is another one once anybody has written to the session. */
export type SessionVersion = string;

/**
 * A session and its sub-agents in one state, and whether an exchange is running in them.
 *
 * Error codes: as `readSessionTree`.
 */
export const readWatchedTree: Operation<{ readonly id: string }, WatchedTree> = async (
  tx,
  input,
) => {
  const tree = await readSessionTree(tx, input);
  const ids = [...sessionsOf(tree)].map(({ session }) => session.id);
  const owners: LeaseOwner[] = [];
  const marks = new Map<string, string | null>();
  for (const batch of batches(ids)) {
    const held = await tx.db
      .selectFrom("sessions")
      .select("lease_owner")
      .where("id", "in", batch)
      .where("lease_expires_at", ">", tx.dialect.now())
      .execute();
    owners.push(
      ...held.flatMap(({ lease_owner }) =>
        lease_owner === null ? [] : [JSON.parse(lease_owner) as LeaseOwner],
      ),
    );
    const marked = tx.db.selectFrom("sessions").select(["id", "prefix_mark"]);
    for (const { id, prefix_mark } of await marked.where("id", "in", batch).execute()) {
      marks.set(id, prefix_mark);
    }
  }
  return { tree, owners, marks, versions: new Map(await versionsOf(tx, ids)) };
};

/** A session's id, and its version. */
type Versioned = readonly [id: string, version: SessionVersion];

/** The versions of a session and its sub-agents; none if there is no such session. */
export const readTreeVersions: Operation<{ readonly id: string }, readonly Versioned[]> = async (
  tx,
  { id },
) => versionsOf(tx, await treeIdsOf(tx, id));

async function versionsOf(tx: Tx, ids: readonly string[]): Promise<Versioned[]> {
  const versions: Versioned[] = [];
  for (const batch of batches(ids)) {
    const rows = await versionQuery(tx).where("id", "in", batch).execute();
    versions.push(...rows.map((row) => [row.id, versionOf(row)] as const));
  }
  return versions;
}

/** The versions of sessions in ascending order of their ids. */
export const readVersions: Operation<
  IdPage,
  readonly { readonly id: string; readonly version: SessionVersion }[]
> = async (tx, { after, limit }) => {
  const rows = await versionQuery(tx).where("id", ">", after).orderBy("id").limit(limit).execute();
  return rows.map((row) => ({ id: row.id, version: versionOf(row) }));
};

function versionQuery(tx: Tx) {
  return tx.db.selectFrom("sessions").select([
    "id",
    "state",
    "persona_name",
    "model",
    "plan_mode",
    "effort",
    "cache",
    "fallback",
    "thread_suffix",
    "last_seq",
    "cleared_seq",
    // every exchange and every repair takes the lease
    "lease_epoch",
    "exchange_open",
    // a lease that ran out may be given back later
    "failure_code",
    "name",
    "named_at",
    "archived_at",
    "archive_changed_at",
    "pinned_at",
    "pin_changed_at",
    "metadata_changed_at",
    sql<string | null>`(
      select string_agg(key || ':' || value, ' ' order by key) from session_metadata
      where session_id = sessions.id
    )`.as("metadata"),
  ]);
}

function versionOf({ id: _, ...row }: { readonly id: string }): SessionVersion {
  return JSON.stringify(Object.values(row));
}
