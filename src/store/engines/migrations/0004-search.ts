import type { Migration } from "./migration.ts";

/** Index of the search; what is stored is indexed when somebody searches. */
export const search: Migration = {
  version: 4,
  name: "search",
  statements: ({ column, tableOptions, search: index }) => {
    const { key, integer } = column;
    return [
      `CREATE TABLE search_state (
        id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
        changed ${integer} NOT NULL,
        server TEXT NOT NULL,
        unmerged ${integer} NOT NULL
      )${tableOptions}`,
      `INSERT INTO search_state (id, changed, server, unmerged) VALUES (1, 0, '', 0)`,
      `CREATE TABLE search_marks (
        session_id ${key} NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
        indexed_seq ${integer} NOT NULL,
        changed ${integer} NOT NULL,
        labels TEXT NOT NULL
      )${tableOptions}`,
      `CREATE TABLE search_documents (
        id ${integer} NOT NULL PRIMARY KEY,
        session_id ${key} NOT NULL REFERENCES search_marks (session_id) ON DELETE CASCADE,
        seq ${integer} NOT NULL${index.columns},
        UNIQUE (session_id, seq)
      )${tableOptions}`,
      ...index.statements,
    ];
  },
};
