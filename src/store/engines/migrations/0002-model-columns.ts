import type { Dialect } from "../../dialect.ts";
import type { Migration } from "./migration.ts";

/**
 * Choices of a session about its models, with which others answer in their place; what their requests cost, and what
 * they may cost; and by what it knows the prefixes that were made in this database.
 */
export const modelColumns: Migration = {
  version: 2,
  name: "model columns",
  statements: (dialect) => [
    "ALTER TABLE sessions ADD COLUMN effort TEXT",
    "ALTER TABLE sessions ADD COLUMN cache TEXT",
    "ALTER TABLE sessions ADD COLUMN prefix_mark TEXT",
    ...fallbackStatements(dialect),
    ...costStatements(dialect),
  ],
};

/** A list as JSON, the model that took over from the chosen one, and the times for which an exchange waits. */
function fallbackStatements({ column: { key } }: Dialect): readonly string[] {
  return [
    "ALTER TABLE sessions ADD COLUMN fallback TEXT",
    "ALTER TABLE exchanges ADD COLUMN fallback_model TEXT",
    `ALTER TABLE exchanges ADD COLUMN resets_at ${key}`,
    `ALTER TABLE exchanges ADD COLUMN not_before ${key}`,
  ];
}

function costStatements({ column, keyedTable }: Dialect): readonly string[] {
  const { key, integer } = column;
  const counts = `input ${integer},
      cache_read ${integer},
      cache_write_5m ${integer},
      cache_write_1h ${integer},
      output ${integer},
      reasoning ${integer}`;
  return [
    `ALTER TABLE sessions ADD COLUMN exchange_price_limit ${integer}`,
    `ALTER TABLE sessions ADD COLUMN session_price_limit ${integer}`,
    `ALTER TABLE sessions ADD COLUMN tree_price_limit ${integer}`,
    `CREATE TABLE model_calls (
      session_id ${key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      n ${integer} NOT NULL,
      epoch ${integer} NOT NULL,
      call ${integer} NOT NULL,
      model TEXT NOT NULL,
      ${counts},
      price_micros ${integer},
      price_table TEXT,
      ended TEXT NOT NULL,
      ts ${key} NOT NULL,
      PRIMARY KEY (session_id, n, epoch, call)
    )${keyedTable}`,
    `CREATE TABLE model_usage (
      session_id ${key} NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
      calls ${integer} NOT NULL,
      unpriced ${integer} NOT NULL,
      ${counts},
      cost_micros ${integer}
    )${keyedTable}`,
  ];
}
