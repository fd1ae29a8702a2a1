import type { Migration } from "./migration.ts";

/** Finds a session from another checkout of its repository, and says which of two names is the later one. */
export const otherMachines: Migration = {
  version: 6,
  name: "other machines",
  statements: ({ column }) => [
    "ALTER TABLE sessions ADD COLUMN project_id TEXT",
    `ALTER TABLE sessions ADD COLUMN named_at ${column.key}`,
    `CREATE INDEX sessions_by_project_id ON sessions (project_id, last_activity_at, id)
      WHERE project_id IS NOT NULL`,
  ],
};
