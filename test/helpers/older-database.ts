import { DatabaseSync } from "node:sqlite";

import { latestVersion, migrations } from "../../src/store/engines/migrations/history.ts";
import { postgresDialect } from "../../src/store/engines/postgres/dialect.ts";
import { sqliteDialect } from "../../src/store/engines/sqlite/dialect.ts";
import { APPLICATION_ID } from "../../src/store/engines/sqlite/migrate.ts";
import type { Store } from "../../src/store/store.ts";
import { execute } from "./engines.ts";

/** The schema version before this program's. */
export const OLDER_VERSION = latestVersion() - 1;

/** Makes a file as the version before wrote it, with `sessions` empty sessions and some ballast. */
export function makeOlderDatabase(path: string, { sessions = 3, ballastBytes = 0 } = {}): void {
  const raw = new DatabaseSync(path);
  raw.exec("PRAGMA journal_mode = WAL; BEGIN");
  for (const step of migrations.filter(({ version }) => version <= OLDER_VERSION)) {
    for (const statement of step.statements(sqliteDialect)) {
      raw.exec(statement);
    }
  }
  for (let index = 0; index < sessions; index += 1) {
    raw
      .prepare("INSERT INTO sessions (id, title) VALUES (?, ?)")
      .run(`0000000${index}-0000-4000-8000-000000000000`, "x".repeat(ballastBytes / sessions));
  }
  raw.exec(
    `PRAGMA user_version = ${OLDER_VERSION}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
  );
  raw.close();
}

/** Undoes the steps after this version: what the database holds then, that version could have written. */
export async function undoSteps(store: Store, version: number): Promise<void> {
  const isSqlite = await store.write((tx) => Promise.resolve(tx.dialect.writersQueue), null);
  const undone = migrations
    .filter((step) => step.version > version)
    .flatMap((step) => step.statements(isSqlite ? sqliteDialect : postgresDialect))
    .toReversed()
    .flatMap(undo);
  for (const statement of undone) {
    await execute(store, statement);
  }
  await execute(
    store,
    isSqlite
      ? `PRAGMA user_version = ${version}`
      : `DELETE FROM reprise_migrations WHERE version > ${version}`,
  );
}

/** None if another undoes it, too. */
function undo(statement: string): string[] {
  const [, made, name = "", rest = "", table, change, changed] =
    /^(?:CREATE (?:UNIQUE )?(TABLE|INDEX|VIEW|FUNCTION|TRIGGER) (\w+)([^]*)|ALTER TABLE (\w+) (ADD COLUMN|RENAME TO) (\w+))/.exec(
      statement,
    ) ?? [];
  if (made !== undefined) {
    const [, on] = /\bON (\w+)\s+FOR EACH ROW/.exec(rest) ?? [];
    return [`DROP ${made} ${name}${made === "TRIGGER" && on !== undefined ? ` ON ${on}` : ""}`];
  }
  if (table === undefined) {
    return [];
  }
  return [
    change === "RENAME TO"
      ? `ALTER TABLE ${changed} RENAME TO ${table}`
      : `ALTER TABLE ${table} DROP COLUMN ${changed}`,
  ];
}

export interface FoundTables {
  readonly version: unknown;
  readonly sessions: unknown;
  readonly integrity: unknown;
}

/** What a file holds, read by SQLite alone. */
export function readTables(path: string): FoundTables {
  const raw = new DatabaseSync(path, { readOnly: true });
  try {
    const value = (query: string): unknown => Object.values(raw.prepare(query).get() ?? {})[0];
    return {
      version: value("PRAGMA user_version"),
      sessions: value("SELECT count(*) FROM sessions"),
      integrity: value("PRAGMA integrity_check"),
    };
  } finally {
    raw.close();
  }
}
