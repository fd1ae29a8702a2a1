import type { Migration } from "./migration.ts";

/** Text of answers that no message holds yet, and the state of the exchange that writes it; see `schema.ts`. */
export const liveAnswers: Migration = {
  version: 17,
  name: "live-answers",
  statements: ({ column, tableOptions }) => [
    `ALTER TABLE messages ADD COLUMN call_id TEXT`,
    `CREATE TABLE answer_pieces (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      message_id ${column.key} NOT NULL,
      epoch ${column.integer} NOT NULL,
      position ${column.integer} NOT NULL,
      n ${column.integer} NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (session_id, message_id, epoch, position)
    )${tableOptions}`,
    `CREATE TABLE live_states (
      session_id ${column.key} NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
      n ${column.integer} NOT NULL,
      epoch ${column.integer} NOT NULL,
      revision ${column.integer} NOT NULL,
      message_id ${column.key},
      value TEXT NOT NULL
    )${tableOptions}`,
  ],
};
