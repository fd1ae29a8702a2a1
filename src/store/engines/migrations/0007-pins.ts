import type { Migration } from "./migration.ts";

/** Sessions that a person keeps at the top. */
export const pins: Migration = {
  version: 7,
  name: "pins",
  statements: ({ column: { key }, numberedPins }) => [
    `ALTER TABLE sessions ADD COLUMN pinned_at ${key}`,
    ...["last_activity_at", "created_at"].map(
      (time) =>
        `CREATE INDEX sessions_pinned_by_${time} ON sessions (${time}, id) WHERE pinned_at IS NOT NULL`,
    ),
    ...numberedPins,
  ],
};
