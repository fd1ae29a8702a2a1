import { sep } from "node:path";

import type { Operation } from "../store.ts";

/** A node announces itself this often, and counts as gone after three times as long. */
export const NODE_SEEN_MS = 10_000;
const NODE_GONE_MS = 3 * NODE_SEEN_MS;

export interface NodeAnnouncement {
  readonly id: string;
  /** Real paths. */
  readonly folders: readonly string[];
}

/** Keeps a node among those that run exchanges, and forgets those that are gone. */
export const announceNode: Operation<NodeAnnouncement, void> = async (tx, { id, folders }) => {
  const row = { id, folders: JSON.stringify(folders), seen_at: tx.dialect.now() };
  await tx.db
    .insertInto("nodes")
    .values(row)
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ folders: row.folders, seen_at: row.seen_at }),
    )
    .execute();
  await tx.db.deleteFrom("nodes").where("seen_at", "<", tx.dialect.now(-NODE_GONE_MS)).execute();
};

export const withdrawNode: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  await tx.db.deleteFrom("nodes").where("id", "=", id).execute();
};

/** True if a node that runs now would run an exchange of a session in this folder. */
export const isServed: Operation<{ readonly folder: string | null }, boolean> = async (
  tx,
  { folder },
) => {
  const nodes = await tx.db
    .selectFrom("nodes")
    .select("folders")
    .where("seen_at", ">=", tx.dialect.now(-NODE_GONE_MS))
    .execute();
  return nodes.some(
    ({ folders }) =>
      folder === null || (JSON.parse(folders) as string[]).some((top) => isWithin(top, folder)),
  );
};

/** True for the folder itself, and for those below it. */
export function isWithin(top: string, folder: string): boolean {
  return folder === top || folder.startsWith(top.endsWith(sep) ? top : top + sep);
}
