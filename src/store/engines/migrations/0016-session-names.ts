import type { Migration } from "./migration.ts";

/**
 * What people call their sessions and how they sort them. The list finds a name or a title by its
 * beginning in an index of their texts in lower case, and archived sessions in their order.
 */
export const sessionNames: Migration = {
  version: 16,
  name: "session-names",
  statements: ({ column, tableOptions }) => [
    `ALTER TABLE sessions ADD COLUMN name TEXT`,
    `ALTER TABLE sessions ADD COLUMN archived_at ${column.key}`,
    `CREATE TABLE session_metadata (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      key ${column.key} NOT NULL,
      value ${column.key} NOT NULL,
      PRIMARY KEY (session_id, key)
    )${tableOptions}`,
    `CREATE INDEX session_metadata_by_value ON session_metadata (key, value, session_id)`,
    ...["name", "title"].map(
      (name) =>
        `CREATE INDEX sessions_by_${name} ON sessions ((${column.lowerCase(name)})) WHERE ${name} IS NOT NULL`,
    ),
    ...["last_activity_at", "created_at"].map(
      (time) =>
        `CREATE INDEX sessions_archived_by_${time} ON sessions (${time}, id) WHERE archived_at IS NOT NULL`,
    ),
    `CREATE INDEX sessions_held ON sessions (id) WHERE lease_owner IS NOT NULL`,
  ],
};
