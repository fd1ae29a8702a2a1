import type { Migration } from "./migration.ts";

/**
 * `threads` is what `checkpoint_threads` was: under the new name, older programs that are running
 * no longer find it, and so read and write no checkpoint whose form they don't know. The last step
 * that stops them: see `docs/operations.md`, "Upgrades".
 *
 * `root_session_id` names the session at the top of the tree, `agent` the agent of the session; see
 * `schema.ts`.
 */
export const treesAndThreads: Migration = {
  version: 11,
  name: "trees-and-threads",
  statements: ({ column }) => [
    // in the order in which exchanges of older programs lock the two tables
    `ALTER TABLE sessions ADD COLUMN root_session_id ${column.key}`,
    `ALTER TABLE sessions ADD COLUMN agent TEXT`,
    `CREATE INDEX sessions_by_root ON sessions (root_session_id, id)`,
    `ALTER TABLE checkpoint_threads RENAME TO threads`,
    `ALTER TABLE threads ADD COLUMN prunes ${column.integer} NOT NULL DEFAULT 0`,
  ],
};
