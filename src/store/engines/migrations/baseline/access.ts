import type { Dialect } from "../../../dialect.ts";

/** Who is logged in on the page, links that show one session (`access/schema.ts`), and what a readiness probe writes into. */
export function accessTables({ column, tableOptions, keyedTable }: Dialect): readonly string[] {
  const { key } = column;
  return [
    `CREATE TABLE page_secrets (
      id ${key} NOT NULL PRIMARY KEY,
      value TEXT NOT NULL
    )${keyedTable}`,
    `CREATE TABLE login_codes (
      hash ${key} NOT NULL PRIMARY KEY,
      expires_at ${key} NOT NULL
    )${keyedTable}`,

    `CREATE TABLE session_shares (
      id ${key} NOT NULL PRIMARY KEY,
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      hash ${key} NOT NULL UNIQUE,
      created_at ${key} NOT NULL,
      expires_at ${key} NOT NULL,
      last_used_at ${key}
    )${tableOptions}`,
    `CREATE INDEX session_shares_of ON session_shares (session_id)`,

    `CREATE TABLE page_logins (
      id ${key} NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL,
      share_id ${key} REFERENCES session_shares (id) ON DELETE CASCADE,
      created_at ${key} NOT NULL,
      last_used_at ${key} NOT NULL
    )${keyedTable}`,
    `CREATE INDEX page_logins_of ON page_logins (share_id)`,

    `CREATE TABLE readiness_probes (
      id ${key} NOT NULL PRIMARY KEY
    )${keyedTable}`,
  ];
}
