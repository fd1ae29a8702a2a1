import type { Migration } from "./migration.ts";

/**
 * The key and the fingerprint of the request that created a session, so that the request can be
 * repeated; and by how much `total_input_tokens` is above what was counted, so that it never falls.
 */
export const createKeys: Migration = {
  version: 9,
  name: "create-keys",
  statements: ({ column }) => [
    `ALTER TABLE sessions ADD COLUMN create_key TEXT`,
    `ALTER TABLE sessions ADD COLUMN create_request TEXT`,
    `CREATE INDEX sessions_by_create_key ON sessions (create_key) WHERE create_key IS NOT NULL`,
    `ALTER TABLE sessions ADD COLUMN input_tokens_ahead ${column.integer} NOT NULL DEFAULT 0`,
  ],
};
