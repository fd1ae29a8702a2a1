import type { Migration } from "./migration.ts";

/** What tools changed in files, so that it can be shown and undone; see `schema.ts`. */
export const fileChanges: Migration = {
  version: 20,
  name: "file-changes",
  statements: ({ column, tableOptions }) => [
    `CREATE TABLE file_changes (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      number ${column.integer} NOT NULL,
      n ${column.integer} NOT NULL,
      call_id ${column.key} NOT NULL,
      tool TEXT NOT NULL,
      root TEXT NOT NULL,
      path TEXT NOT NULL,
      entry_before TEXT,
      entry_after TEXT,
      state TEXT NOT NULL,
      place TEXT,
      host TEXT NOT NULL,
      ts ${column.key} NOT NULL,
      undone_at ${column.key},
      PRIMARY KEY (session_id, number)
    )${tableOptions}`,
  ],
};
