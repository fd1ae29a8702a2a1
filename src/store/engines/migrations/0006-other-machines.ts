import type { Migration } from "./migration.ts";

/** Finds a session from another checkout of its repository, says which of two labels is the later one, and which session kept bytes. */
export const otherMachines: Migration = {
  version: 6,
  name: "other machines",
  statements: ({ column }) => [
    "ALTER TABLE sessions ADD COLUMN project_id TEXT",
    ...["named_at", "archive_changed_at", "pin_changed_at", "metadata_changed_at"].map(
      (name) => `ALTER TABLE sessions ADD COLUMN ${name} ${column.key}`,
    ),
    `ALTER TABLE file_changes ADD COLUMN kept_for ${column.key}`,
    `CREATE INDEX file_changes_by_call ON file_changes (session_id, call_id)`,
    `CREATE INDEX sessions_by_project_id ON sessions (project_id, last_activity_at, id)
      WHERE project_id IS NOT NULL`,
  ],
};
