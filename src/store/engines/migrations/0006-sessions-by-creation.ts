import type { Migration } from "./migration.ts";

/** Lists sessions in the order of their creation, page by page, however many there are. */
export const sessionsByCreation: Migration = {
  version: 6,
  name: "sessions-by-creation",
  statements: () => [`CREATE INDEX sessions_by_creation ON sessions (created_at, id)`],
};
