import { sql } from "kysely";

import { type Dialect, MAX_OFFSET_MS } from "../../dialect.ts";
import { numberedChanges, numberedPhases, numberedPins } from "./numbered-changes.ts";
import { sqliteSearchIndex } from "./search-index.ts";

const NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/** SQLite's words. Writers run one after another, so a read row needs no separate lock. */
export const sqliteDialect: Dialect = {
  now: (offsetMs = 0) =>
    offsetMs === 0
      ? sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`
      : sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (min(max(${offsetMs}, ${sql.lit(-MAX_OFFSET_MS)}), ${sql.lit(MAX_OFFSET_MS)}) / 1000.0) || ' seconds')`,
  writersQueue: true,
  forUpdate: sql``,
  forUpdateOfFree: sql``,
  holdName: () => null,
  jsonText: (text) => sql<string>`json_quote(${text})`,
  column: {
    integer: "INTEGER",
    key: "TEXT",
    bytes: "BLOB",
    serial: "INTEGER PRIMARY KEY AUTOINCREMENT",
    now: NOW,
    randomId: "lower(hex(randomblob(16)))",
    lowerCase: (column) => `lower(${column})`,
  },
  numberedChanges,
  numberedPhases,
  numberedPins,
  changeNumber: { changed: sql<number>`(select next from change_position)` },
  search: sqliteSearchIndex,
  tableOptions: " STRICT",
  keyedTable: " STRICT, WITHOUT ROWID",
};
