import { sql } from "kysely";

import type { PostgresConnection } from "../../store/engines/postgres/connection.ts";
import { openPostgresSource } from "../../store/engines/postgres/open-source.ts";
import type { OfficialSource } from "./source.ts";
import { notASaver, sourceOf } from "./source-of.ts";
import { type OfficialTables, textIn, typedValue } from "./tables.ts";

/**
 * Opens the tables of a PostgresSaver of LangGraph.js: those of the schema that the address names.
 *
 * Error codes: `database_*`, `config_invalid`; `database_foreign` if no such saver made them.
 */
export async function openPostgresSaver(url: string): Promise<OfficialSource> {
  let hasTaskPath = false;
  const check = async (connection: PostgresConnection): Promise<void> => {
    const columns = await columnsOf(connection);
    if (!EXPECTED.every((name) => columns.has(name))) {
      throw notASaver();
    }
    hasTaskPath = columns.has("checkpoint_writes.task_path");
  };
  const store = await openPostgresSource({ url, check });
  const taskPath = hasTaskPath ? sql<string>`task_path` : sql<string>`''`;
  return sourceOf(store, { ...TABLES, taskPath }, (id) => id);
}

const EXPECTED = [
  "checkpoints.thread_id",
  "checkpoints.checkpoint",
  "checkpoint_blobs.blob",
  "checkpoint_writes.blob",
];

async function columnsOf(connection: PostgresConnection): Promise<ReadonlySet<unknown>> {
  const { rows } = await connection.run(`
    SELECT name || '.' || attname AS column
    FROM unnest(ARRAY['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']) AS name
    JOIN pg_attribute ON attrelid = to_regclass(name) AND attnum > 0 AND NOT attisdropped`);
  return new Set(rows.map(({ column }) => column));
}

const TABLES: Omit<OfficialTables, "taskPath"> = {
  ns: sql`checkpoint_ns`,
  parent_id: sql`parent_checkpoint_id`,
  type: sql`NULL::text`,
  checkpoint: sql`checkpoint::text`,
  metadata: sql`metadata::text`,
  writes: sql`checkpoint_writes`,
  writtenValue: sql`blob`,
  channels: async ({ db }, { thread_id, ns, checkpoint_id }) => {
    const { rows } = await sql<Record<"name" | "type" | "content", unknown>>`
      SELECT b.channel AS name, b.type AS type, b.blob AS content
      FROM checkpoints AS c
      CROSS JOIN LATERAL jsonb_each_text(
        CASE jsonb_typeof(c.checkpoint -> 'channel_versions')
          WHEN 'object' THEN c.checkpoint -> 'channel_versions' ELSE '{}' END) AS v
      JOIN checkpoint_blobs AS b ON b.thread_id = c.thread_id
        AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = v.key AND b.version = v.value
      WHERE c.thread_id = ${thread_id} AND c.checkpoint_ns = ${ns}
        AND c.checkpoint_id = ${checkpoint_id} AND b.type <> 'empty'`.execute(db);
    return rows.map(({ name, type, content }) => ({
      name: textIn(name),
      value: typedValue(type, content),
    }));
  },
};
