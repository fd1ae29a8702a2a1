import type { Migration } from "./migration.ts";

/** What a session's models may use; null for no limit. Only a root session has limits. */
export const tokenLimits: Migration = {
  version: 14,
  name: "token-limits",
  statements: ({ column }) =>
    ["exchange_limit", "session_limit", "tree_limit"].map(
      (name) => `ALTER TABLE sessions ADD COLUMN ${name} ${column.integer}`,
    ),
};
