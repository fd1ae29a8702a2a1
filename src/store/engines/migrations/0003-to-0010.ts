import type { Migration } from "./migration.ts";

/** The steps after the first two: each adds a little. */
export const laterMigrations: readonly Migration[] = [
  /** Up to where a thread's checkpoints are pruned; see `checkpoints/prune.ts`. */
  {
    version: 3,
    name: "folds",
    statements: ({ column }) =>
      ["folded_checkpoint", "folded_body", "folded_list"].map(
        (name) =>
          `ALTER TABLE checkpoint_threads ADD COLUMN ${name} ${column.integer} NOT NULL DEFAULT 0`,
      ),
  },

  /** What a readiness probe writes into; always empty for everybody else. See `readiness.ts`. */
  {
    version: 4,
    name: "readiness",
    statements: ({ column, tableOptions }) => [
      `CREATE TABLE readiness_probes (
      id ${column.key} NOT NULL PRIMARY KEY
    )${tableOptions}`,
    ],
  },

  /** Finds the exchanges that have begun and not finished, however many sessions there are. */
  {
    version: 5,
    name: "open-exchanges",
    statements: () => [
      `CREATE INDEX sessions_by_open_exchange ON sessions (exchange_open) WHERE exchange_open = 1`,
    ],
  },

  /** Lists sessions in the order of their creation, page by page, however many there are. */
  {
    version: 6,
    name: "sessions-by-creation",
    statements: () => [`CREATE INDEX sessions_by_creation ON sessions (created_at, id)`],
  },

  /**
   * What a thread's latest checkpoint is; see `checkpoints/head-mark.ts`. No mark before the
   * next put.
   */
  {
    version: 7,
    name: "thread-heads",
    statements: ({ column }) => [
      `ALTER TABLE checkpoint_threads ADD COLUMN head_row ${column.integer} NOT NULL DEFAULT 0`,
      `ALTER TABLE checkpoint_threads ADD COLUMN head_length ${column.integer} NOT NULL DEFAULT 0`,
      `ALTER TABLE checkpoint_threads ADD COLUMN head_hash TEXT NOT NULL DEFAULT ''`,
    ],
  },

  /**
   * The origins of sessions, messages and later changes. Rows from before have no origin and count
   * as authenticated. `session_changes` has a row for each change of a session after its creation.
   */
  {
    version: 8,
    name: "origins",
    statements: ({ column, tableOptions }) => [
      ...["sessions", "messages"].flatMap((table) => [
        `ALTER TABLE ${table} ADD COLUMN origin TEXT`,
        `ALTER TABLE ${table} ADD COLUMN authenticated ${column.integer} NOT NULL DEFAULT 1`,
        `ALTER TABLE ${table} ADD COLUMN accepted_at TEXT`,
      ]),
      `ALTER TABLE sessions ADD COLUMN chosen TEXT`,
      `CREATE TABLE session_changes (
      session_id ${column.key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      number ${column.integer} NOT NULL,
      field TEXT NOT NULL DEFAULT '',
      value TEXT NOT NULL DEFAULT '',
      origin TEXT,
      authenticated ${column.integer} NOT NULL DEFAULT 1,
      accepted_at TEXT,
      ts ${column.key} NOT NULL DEFAULT (${column.now}),
      PRIMARY KEY (session_id, number)
    )${tableOptions}`,
    ],
  },

  /**
   * The key and the fingerprint of the request that created a session, so that the request can be
   * repeated; and by how much `total_input_tokens` is above what was counted, so that it never falls.
   */
  {
    version: 9,
    name: "create-keys",
    statements: ({ column }) => [
      `ALTER TABLE sessions ADD COLUMN create_key TEXT`,
      `ALTER TABLE sessions ADD COLUMN create_request TEXT`,
      `CREATE INDEX sessions_by_create_key ON sessions (create_key) WHERE create_key IS NOT NULL`,
      `ALTER TABLE sessions ADD COLUMN input_tokens_ahead ${column.integer} NOT NULL DEFAULT 0`,
    ],
  },

  /**
   * Why the last exchange failed: an error code, its sentence and the epoch of the lease. Null if it
   * did not fail.
   */
  {
    version: 10,
    name: "exchange-failures",
    statements: ({ column }) => [
      `ALTER TABLE sessions ADD COLUMN failure_code TEXT`,
      `ALTER TABLE sessions ADD COLUMN failure_sentence TEXT`,
      `ALTER TABLE sessions ADD COLUMN failure_epoch ${column.integer}`,
    ],
  },
];
