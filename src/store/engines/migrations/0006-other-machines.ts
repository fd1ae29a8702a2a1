import type { Migration } from "./migration.ts";

/** What finds a session from another checkout of its repository. */
export const otherMachines: Migration = {
  version: 6,
  name: "other machines",
  statements: () => [
    "ALTER TABLE sessions ADD COLUMN project_id TEXT",
    `CREATE INDEX sessions_by_project_id ON sessions (project_id, last_activity_at, id)
      WHERE project_id IS NOT NULL`,
  ],
};
