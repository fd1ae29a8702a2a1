import { expect, it } from "vitest";

import { migrations } from "../../src/store/engines/migrations/history.ts";
import { postgresDialect } from "../../src/store/engines/postgres/dialect.ts";
import { sqliteDialect } from "../../src/store/engines/sqlite/dialect.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { listSessions } from "../../src/store/records/sessions/list.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngines, type Engine, execute } from "../helpers/engines.ts";

/**
 * What an older program does not notice: more tables, views and functions, more indexes, more columns with a default, and
 * triggers.
 */
const ADDS =
  /^(CREATE (TABLE|VIRTUAL TABLE|VIEW|FUNCTION|TRIGGER) \w+|CREATE INDEX \w+ ON |ALTER TABLE \w+ ADD COLUMN \w+ \w+( COLLATE "C")?( NOT NULL DEFAULT \S+)?$)/;

/** A key of rows with a value in a column of the same step, which an older program leaves empty. */
function isNewKey(statement: string, statements: readonly string[]): boolean {
  const [, table, column] =
    /^CREATE UNIQUE INDEX \w+ ON (\w+) \([^)]+\)\s+WHERE (\w+) IS NOT NULL$/.exec(statement) ?? [];
  return statements.some((other) => other.startsWith(`ALTER TABLE ${table} ADD COLUMN ${column} `));
}

/** A row of a table of the same step. */
function isNewRow(statement: string, statements: readonly string[]): boolean {
  const [, table] = /^INSERT INTO (\w+) /.exec(statement) ?? [];
  return statements.some((other) => other.startsWith(`CREATE TABLE ${table} (`));
}

/** The statements of a step that a program of the version before would notice. */
function breaking(statements: readonly string[]): string[] {
  return statements.filter(
    (statement) =>
      !ADDS.test(statement) && !isNewKey(statement, statements) && !isNewRow(statement, statements),
  );
}

it("[OPS-11] the steps after the baseline only add", () => {
  const [baseline, ...later] = migrations;
  expect(baseline).toMatchObject({ version: 1, name: "baseline" });
  for (const dialect of [sqliteDialect, postgresDialect]) {
    expect(later.flatMap((step) => breaking(step.statements(dialect)))).toEqual([]);
  }
  expect(
    breaking([
      "CREATE TABLE later (id TEXT)",
      "INSERT INTO later (id) VALUES ('x')",
      "CREATE INDEX later_by_id ON later (id)",
      "ALTER TABLE sessions ADD COLUMN owner TEXT",
      "ALTER TABLE sessions ADD COLUMN rank BIGINT NOT NULL DEFAULT 0",
      "CREATE UNIQUE INDEX one ON sessions (owner) WHERE owner IS NOT NULL",
    ]),
  ).toEqual([]);
  const noticed = [
    "ALTER TABLE sessions ADD COLUMN other TEXT",
    "DROP TABLE messages",
    "INSERT INTO messages (id) VALUES ('x')",
    "ALTER TABLE sessions RENAME TO conversations",
    "ALTER TABLE sessions RENAME COLUMN title TO name",
    "ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL",
    "CREATE UNIQUE INDEX one ON sessions (title)",
    "CREATE UNIQUE INDEX one ON sessions (title) WHERE title IS NOT NULL",
  ];
  expect(breaking(noticed)).toEqual(noticed.slice(1));
});

describeEngines("a node of the version before", (engine) => {
  it("[OPS-11] [OPS-15] continues while a newer one has added to the tables, and is refused when restarted", async () => {
    const database = await engine.create();
    const older = await database.open();
    const { id } = await older.write(createSession, {});
    const newer = await database.open();
    await execute(newer, "ALTER TABLE sessions ADD COLUMN later TEXT NOT NULL DEFAULT 'x'");
    await execute(newer, "ALTER TABLE messages ADD COLUMN later TEXT");
    await execute(newer, "CREATE TABLE later (id INTEGER PRIMARY KEY)");
    await becomeNewer(newer, engine);
    const appended = await older.write(appendUserMessage, { reference: id, content: "still here" });
    expect(appended.message.seq).toBe(1);
    await older.write(createSession, {});
    expect((await older.read(listSessions, { limit: 9 })).sessions).toHaveLength(2);
    await expect(database.open()).rejects.toMatchObject({ code: "database_newer" });
  });
});

async function becomeNewer(store: Store, { name }: Engine): Promise<void> {
  await execute(
    store,
    name === "sqlite"
      ? "PRAGMA user_version = 9999"
      : "INSERT INTO reprise_versions (version, name) VALUES (9999, 'later')",
  );
}
