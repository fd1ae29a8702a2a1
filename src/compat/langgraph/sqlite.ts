import { sql } from "kysely";

import type { SqliteConnection } from "../../store/engines/sqlite/connection.ts";
import { openSqliteSource } from "../../store/engines/sqlite/open-source.ts";
import type { OfficialSource } from "./source.ts";
import { notASaver, sourceOf } from "./source-of.ts";
import type { OfficialTables } from "./tables.ts";

/**
 * Opens the file of a SqliteSaver of LangGraph.js. Earlier versions of it had no namespaces, no
 * types and no writes.
 *
 * Error codes: `database_*`; `database_foreign` for a file that no such saver made.
 */
export function openSqliteSaver(path: string): OfficialSource {
  let tables: OfficialTables | null = null;
  const store = openSqliteSource({
    path,
    check: (connection) => {
      tables = tablesOf(connection);
    },
  });
  if (tables === null) {
    throw new Error("a source was opened without a check");
  }
  return sourceOf(store, tables, graphsId);
}

/** The number 42 is stored as `42.0`; to other savers 42 and "42" are the same thread. */
function graphsId(id: string): string {
  return /^-?\d+\.0$/.test(id) ? id.slice(0, -2) : id;
}

function tablesOf(connection: SqliteConnection): OfficialTables {
  const checkpoints = columnsOf(connection, "checkpoints");
  const writes = columnsOf(connection, "writes");
  if (!checkpoints.has("thread_id") || !checkpoints.has("checkpoint")) {
    throw notASaver();
  }
  const parent = ["parent_checkpoint_id", "parent_id"].find((name) => checkpoints.has(name));
  if (parent === undefined) {
    throw notASaver();
  }
  return {
    ns: checkpoints.has("checkpoint_ns") ? sql`checkpoint_ns` : sql`''`,
    parent_id: sql.ref(parent),
    type: checkpoints.has("type") ? sql`type` : sql`NULL`,
    checkpoint: sql`checkpoint`,
    metadata: sql`metadata`,
    writes: writes.size > 0 ? sql`writes` : NO_WRITES,
    writtenValue: sql`value`,
    taskPath: writes.has("task_path") ? sql`task_path` : sql`''`,
    channels: () => Promise.resolve([]),
  };
}

const NO_WRITES = sql`(SELECT NULL AS thread_id, NULL AS checkpoint_ns, NULL AS checkpoint_id,
  NULL AS task_id, NULL AS idx, NULL AS channel, NULL AS type, NULL AS value WHERE 0)`;

function columnsOf({ raw }: SqliteConnection, table: string): ReadonlySet<unknown> {
  const rows = raw.prepare("SELECT name FROM pragma_table_info(?)").all(table);
  return new Set(rows.map(({ name }) => name));
}
