import type { Migration } from "./migration.ts";

/**
 * Where sessions, messages and later changes came from. Rows from before have no origin and count
 * as authenticated. `session_changes` has a row for each change of a session after its creation.
 */
export const origins: Migration = {
  version: 8,
  name: "origins",
  statements: ({ column, tableOptions }) => [
    ...["sessions", "messages"].flatMap((table) => [
      `ALTER TABLE ${table} ADD COLUMN origin TEXT`,
      `ALTER TABLE ${table} ADD COLUMN authenticated ${column.integer} NOT NULL DEFAULT 1`,
      `ALTER TABLE ${table} ADD COLUMN accepted_at TEXT`,
    ]),
    `ALTER TABLE sessions ADD COLUMN chosen TEXT`,
    `CREATE TABLE session_changes (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      number ${column.integer} NOT NULL,
      field TEXT NOT NULL DEFAULT '',
      value TEXT NOT NULL DEFAULT '',
      origin TEXT,
      authenticated ${column.integer} NOT NULL DEFAULT 1,
      accepted_at TEXT,
      ts ${column.key} NOT NULL DEFAULT (${column.now}),
      PRIMARY KEY (session_id, number)
    )${tableOptions}`,
  ],
};
