import type { Migration } from "./migration.ts";

/**
 * Numbers every change that a list of sessions shows, for readers that were away: see `schema.ts`. Triggers give the
 * numbers, so that changes of older programs that are running have them, too. Rows of before have none.
 */
export const sessionChanges: Migration = {
  version: 18,
  name: "session-changes",
  statements: ({ column, tableOptions, numberedChanges }) => [
    ...["sessions", "exchanges", "questions"].flatMap((table) => [
      `ALTER TABLE ${table} ADD COLUMN changed ${column.integer} NOT NULL DEFAULT 0`,
      `CREATE INDEX ${table}_changed ON ${table} (changed) WHERE changed > 0`,
    ]),
    `ALTER TABLE sessions ADD COLUMN created_change ${column.integer} NOT NULL DEFAULT 0`,
    `CREATE TABLE deleted_sessions (
      id ${column.key} NOT NULL PRIMARY KEY,
      changed ${column.integer} NOT NULL,
      deleted_at ${column.key} NOT NULL
    )${tableOptions}`,
    `CREATE INDEX deleted_sessions_changed ON deleted_sessions (changed)`,
    `INSERT INTO deleted_sessions (id, changed, deleted_at) VALUES ('', 0, '')`,
    `CREATE TABLE change_numbers (
      id ${column.key} NOT NULL PRIMARY KEY,
      last ${column.integer} NOT NULL
    )${tableOptions}`,
    `INSERT INTO change_numbers (id, last) VALUES (${column.randomId}, 0)`,
    ...numberedChanges,
  ],
};
