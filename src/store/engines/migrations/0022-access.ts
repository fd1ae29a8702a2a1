import type { Migration } from "./migration.ts";

/** Who is logged in on the page, and links that show one session; see `access/schema.ts`. */
export const access: Migration = {
  version: 22,
  name: "access",
  statements: ({ column, tableOptions }) => [
    `CREATE TABLE page_secrets (
      id ${column.key} NOT NULL PRIMARY KEY,
      value TEXT NOT NULL
    )${tableOptions}`,
    `CREATE TABLE login_codes (
      hash ${column.key} NOT NULL PRIMARY KEY,
      expires_at ${column.key} NOT NULL
    )${tableOptions}`,
    `CREATE TABLE session_shares (
      id ${column.key} NOT NULL PRIMARY KEY,
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      hash ${column.key} NOT NULL UNIQUE,
      created_at ${column.key} NOT NULL,
      expires_at ${column.key} NOT NULL,
      last_used_at ${column.key}
    )${tableOptions}`,
    `CREATE INDEX session_shares_of ON session_shares (session_id)`,
    `CREATE TABLE page_logins (
      id ${column.key} NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL,
      share_id ${column.key} REFERENCES session_shares (id) ON DELETE CASCADE,
      created_at ${column.key} NOT NULL,
      last_used_at ${column.key} NOT NULL
    )${tableOptions}`,
    `CREATE INDEX page_logins_of ON page_logins (share_id)`,
  ],
};
