import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

/** Every row of every table, table by table. */
export type Content = Readonly<Record<string, string>>;

/**
 * One hash a table: two readings are equal only if no row differs in any column, except for the random id of a
 * database's numbers of changes.
 */
export function contentOf(database: string): Content {
  using file = new DatabaseSync(database, { readOnly: true, timeout: 5000 });
  return contentThrough(file);
}

export function contentThrough(file: DatabaseSync): Content {
  const tables = file
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => String(name));
  return Object.fromEntries(
    tables.map((table) => {
      const columns = table === "change_numbers" ? "last" : "*";
      const rows = file.prepare(`SELECT ${columns} FROM "${table}"`).all();
      const sorted = rows.map((row) => JSON.stringify(row)).toSorted();
      const hash = createHash("sha256").update(sorted.join()).digest("hex");
      return [table, `${rows.length} rows ${hash.slice(0, 16)}`];
    }),
  );
}
