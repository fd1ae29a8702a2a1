import type { Migration } from "./migration.ts";

/** What tools ask a person, with the answers; see `schema.ts`. */
export const questions: Migration = {
  version: 15,
  name: "questions",
  statements: ({ column, tableOptions }) => [
    `CREATE TABLE questions (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      thread_suffix ${column.integer} NOT NULL,
      call_id ${column.key} NOT NULL,
      number ${column.integer} NOT NULL,
      id ${column.key} NOT NULL UNIQUE,
      state TEXT NOT NULL,
      kind TEXT NOT NULL,
      text TEXT NOT NULL,
      choices TEXT,
      effect TEXT,
      shown_hash TEXT NOT NULL,
      default_answer TEXT,
      answer_by ${column.key},
      asked_at ${column.key} NOT NULL,
      answered_at ${column.key},
      answered_by TEXT,
      answer TEXT,
      note TEXT,
      PRIMARY KEY (session_id, thread_suffix, call_id, number)
    )${tableOptions}`,
    `CREATE INDEX questions_open ON questions (session_id) WHERE state = 'open'`,
    `CREATE INDEX questions_due ON questions (answer_by)
      WHERE state = 'open' AND answer_by IS NOT NULL`,
  ],
};
