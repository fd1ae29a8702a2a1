import type { Migration } from "./migration.ts";

/** What a session chooses of its models: how much they reason, and how long their providers keep what they have read. */
export const modelColumns: Migration = {
  version: 2,
  name: "model columns",
  statements: () => [
    "ALTER TABLE sessions ADD COLUMN effort TEXT",
    "ALTER TABLE sessions ADD COLUMN cache TEXT",
  ],
};
