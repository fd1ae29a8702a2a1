import type { Migration } from "./migration.ts";

/** What a person is asked before a tool takes effect, and what was allowed; see `schema.ts`. */
export const permissions: Migration = {
  version: 19,
  name: "permissions",
  statements: ({ column }) => [
    `ALTER TABLE sessions ADD COLUMN permission_mode TEXT NOT NULL DEFAULT 'ask'`,
    `ALTER TABLE sessions ADD COLUMN permission_rules TEXT`,
    `ALTER TABLE questions ADD COLUMN answered_here ${column.integer} NOT NULL DEFAULT 0`,
  ],
};
