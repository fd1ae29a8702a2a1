import type { Migration } from "./migration.ts";

/** What a readiness probe writes into; always empty for everybody else. See `readiness.ts`. */
export const readiness: Migration = {
  version: 4,
  name: "readiness",
  statements: ({ column, tableOptions }) => [
    `CREATE TABLE readiness_probes (
      id ${column.key} NOT NULL PRIMARY KEY
    )${tableOptions}`,
  ],
};
