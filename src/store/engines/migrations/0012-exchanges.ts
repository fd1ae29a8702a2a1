import type { Migration } from "./migration.ts";

/**
 * A record of each exchange; see `schema.ts`. Exchanges of older versions have none: one that is
 * open at the upgrade gets its record when it is continued.
 */
export const exchanges: Migration = {
  version: 12,
  name: "exchanges",
  statements: ({ column, tableOptions }) => [
    `ALTER TABLE sessions ADD COLUMN exchange_count ${column.integer} NOT NULL DEFAULT 0`,
    `CREATE TABLE exchanges (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      n ${column.integer} NOT NULL,
      id ${column.key} NOT NULL,
      revision ${column.integer} NOT NULL DEFAULT 1,
      state TEXT NOT NULL,
      asked_by TEXT NOT NULL,
      parent_n ${column.integer},
      thread_suffix ${column.integer},
      epoch ${column.integer},
      model TEXT,
      persona_name TEXT,
      first_seq ${column.integer},
      last_seq ${column.integer},
      input_before ${column.integer},
      output_before ${column.integer},
      input_tokens ${column.integer},
      output_tokens ${column.integer},
      error_code TEXT,
      error_sentence TEXT,
      begun_at ${column.key},
      ended_at ${column.key},
      PRIMARY KEY (session_id, n)
    )${tableOptions}`,
    `CREATE INDEX exchanges_open ON exchanges (session_id, n) WHERE ended_at IS NULL`,
  ],
};
