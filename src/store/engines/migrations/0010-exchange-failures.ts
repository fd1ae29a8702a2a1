import type { Migration } from "./migration.ts";

/**
 * Why the last exchange failed: an error code, its sentence and the epoch of the lease. Null if it
 * did not fail.
 */
export const exchangeFailures: Migration = {
  version: 10,
  name: "exchange-failures",
  statements: ({ column }) => [
    `ALTER TABLE sessions ADD COLUMN failure_code TEXT`,
    `ALTER TABLE sessions ADD COLUMN failure_sentence TEXT`,
    `ALTER TABLE sessions ADD COLUMN failure_epoch ${column.integer}`,
  ],
};
