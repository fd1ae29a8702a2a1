import type { Dialect } from "../../../dialect.ts";

/**
 * Numbers every change that a list of sessions shows, for readers that were away: see `changes/schema.ts`. Triggers give
 * the numbers, so that no writer can forget them.
 */
export function changeTables(dialect: Dialect): readonly string[] {
  const { column, keyedTable, numberedChanges } = dialect;
  const { key, integer, randomId } = column;
  return [
    ...["sessions", "exchanges", "questions"].map(
      (table) => `CREATE INDEX ${table}_changed ON ${table} (changed) WHERE changed > 0`,
    ),
    `CREATE TABLE deleted_sessions (
      id ${key} NOT NULL PRIMARY KEY,
      changed ${integer} NOT NULL,
      deleted_at ${key} NOT NULL
    )${keyedTable}`,
    `CREATE INDEX deleted_sessions_changed ON deleted_sessions (changed)`,
    `INSERT INTO deleted_sessions (id, changed, deleted_at) VALUES ('', 0, '')`,

    `CREATE TABLE change_numbers (
      id ${key} NOT NULL PRIMARY KEY,
      last ${integer} NOT NULL
    )${keyedTable}`,
    // says which database the numbers are of
    `INSERT INTO change_numbers (id, last) VALUES (substr(${randomId}, 1, 8), 0)`,
    ...numberedChanges,
  ];
}
