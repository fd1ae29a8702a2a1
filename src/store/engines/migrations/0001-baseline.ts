import { accessTables } from "./baseline/access.ts";
import { changeTables } from "./baseline/changes.ts";
import { checkpointTables } from "./baseline/checkpoints.ts";
import { exchangeTables } from "./baseline/exchanges.ts";
import { sessionTables } from "./baseline/sessions.ts";
import type { Migration } from "./migration.ts";

/**
 * The tables with which the history begins; `schema.ts` of each folder says what their columns mean. Builds before this
 * one had other steps, which `database_too_old` refuses: see `history.ts`.
 */
export const baseline: Migration = {
  version: 1,
  name: "baseline",
  statements: (dialect) => [
    ...sessionTables(dialect),
    ...exchangeTables(dialect),
    ...checkpointTables(dialect),
    ...accessTables(dialect),
    ...changeTables(dialect),
  ],
};
