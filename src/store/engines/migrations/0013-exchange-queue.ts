import type { Migration } from "./migration.ts";

/**
 * Exchanges that wait in line. `ready_at` is set while the first exchange of a session that has not
 * ended is queued: a node finds work by it without reading what cannot run.
 */
export const exchangeQueue: Migration = {
  version: 13,
  name: "exchange-queue",
  statements: ({ column, tableOptions }) => [
    `ALTER TABLE sessions ADD COLUMN ready_at ${column.key}`,
    `CREATE INDEX sessions_ready ON sessions (ready_at, id) WHERE ready_at IS NOT NULL`,
    `ALTER TABLE exchanges ADD COLUMN content TEXT`,
    `ALTER TABLE exchanges ADD COLUMN origin TEXT`,
    `ALTER TABLE exchanges ADD COLUMN authenticated ${column.integer} NOT NULL DEFAULT 1`,
    `ALTER TABLE exchanges ADD COLUMN idempotency_key ${column.key}`,
    `ALTER TABLE exchanges ADD COLUMN request TEXT`,
    `ALTER TABLE exchanges ADD COLUMN attempts ${column.integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE exchanges ADD COLUMN stop_asked_at ${column.key}`,
    `ALTER TABLE exchanges ADD COLUMN queued_at ${column.key}`,
    `CREATE UNIQUE INDEX exchanges_by_key ON exchanges (session_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`,
    `CREATE TABLE nodes (
      id ${column.key} NOT NULL PRIMARY KEY,
      agent TEXT,
      folders TEXT NOT NULL,
      seen_at ${column.key} NOT NULL
    )${tableOptions}`,
  ],
};
