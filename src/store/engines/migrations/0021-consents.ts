import type { Migration } from "./migration.ts";

/** Who answered, set modes and allowed calls; see `schema.ts`. */
export const consents: Migration = {
  version: 21,
  name: "consents",
  statements: ({ column, tableOptions }) => [
    `CREATE TABLE consents (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      number ${column.integer} NOT NULL,
      kind TEXT NOT NULL,
      subject TEXT NOT NULL,
      who TEXT NOT NULL,
      at ${column.key} NOT NULL,
      PRIMARY KEY (session_id, number)
    )${tableOptions}`,
  ],
};
