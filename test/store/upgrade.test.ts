import { expect, it } from "vitest";

import { appendUserMessage } from "../../src/store/messages/append.ts";
import { migrations } from "../../src/store/engines/migrations/history.ts";
import { postgresDialect } from "../../src/store/engines/postgres/dialect.ts";
import { createSession } from "../../src/store/sessions/create.ts";
import { listSessions } from "../../src/store/sessions/list.ts";
import { sqliteDialect } from "../../src/store/engines/sqlite/dialect.ts";
import { describeEngines, execute } from "../helpers/engines.ts";

/** What an older program does not notice: more tables, more indexes, more columns with a default. */
const ADDS =
  /^(CREATE TABLE \w+ |CREATE INDEX \w+ ON |ALTER TABLE \w+ ADD COLUMN \w+ \w+( NOT NULL DEFAULT \S+)?$)/;

it("[OPS-11] the steps of the history after the first ones only add", () => {
  const later = migrations.filter(({ version }) => version > 3);
  expect(later.length).toBeGreaterThan(0);
  for (const dialect of [sqliteDialect, postgresDialect]) {
    for (const statement of later.flatMap((step) => step.statements(dialect))) {
      expect(statement).toMatch(ADDS);
    }
  }
  for (const breaking of [
    "DROP TABLE messages",
    "ALTER TABLE sessions RENAME COLUMN title TO name",
    "ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL",
    "CREATE UNIQUE INDEX one ON sessions (title)",
  ]) {
    expect(breaking).not.toMatch(ADDS);
  }
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
    await execute(
      newer,
      engine.name === "sqlite"
        ? "PRAGMA user_version = 9999"
        : "INSERT INTO reprise_migrations (version, name) VALUES (9999, 'later')",
    );
    const appended = await older.write(appendUserMessage, { reference: id, content: "still here" });
    expect(appended.message.seq).toBe(1);
    await older.write(createSession, {});
    expect((await older.read(listSessions, { limit: 9 })).sessions).toHaveLength(2);
    await expect(database.open()).rejects.toMatchObject({ code: "database_newer" });
  });
});
