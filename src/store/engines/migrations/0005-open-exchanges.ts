import type { Migration } from "./migration.ts";

/** Finds the exchanges that have begun and not come to their end, however many sessions there are. */
export const openExchanges: Migration = {
  version: 5,
  name: "open-exchanges",
  statements: () => [
    `CREATE INDEX sessions_by_open_exchange ON sessions (exchange_open) WHERE exchange_open = 1`,
  ],
};
