import { expect, it } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import type { SessionAck, SessionDetail } from "../../src/core/schemas.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { migrations } from "../../src/store/engines/migrations/history.ts";
import { postgresDialect } from "../../src/store/engines/postgres/dialect.ts";
import { sqliteDialect } from "../../src/store/engines/sqlite/dialect.ts";
import { appendUserMessage } from "../../src/store/messages/append.ts";
import { createSession } from "../../src/store/sessions/create.ts";
import { listSessions } from "../../src/store/sessions/list.ts";
import type { Store } from "../../src/store/store.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { describeEngines, type Engine, execute } from "../helpers/engines.ts";
import { agentOptions } from "../helpers/exchanger.ts";
import { startTestServer } from "../helpers/server.ts";
import { openStream } from "../helpers/stream.ts";

/**
 * What an older program does not notice: more tables, views and functions, their rows, more indexes, more columns with a
 * default, and triggers.
 */
const ADDS =
  /^(CREATE (TABLE|VIEW|FUNCTION|TRIGGER) \w+|INSERT INTO (deleted_sessions|change_numbers) |CREATE INDEX \w+ ON |ALTER TABLE \w+ ADD COLUMN \w+ \w+( COLLATE "C")?( NOT NULL DEFAULT \S+)?$)/;

/** A key of rows with a value in a column of the same step, which an older program leaves empty. */
function isNewKey(statement: string, statements: readonly string[]): boolean {
  const [, table, column] =
    /^CREATE UNIQUE INDEX \w+ ON (\w+) \([^)]+\)\s+WHERE (\w+) IS NOT NULL$/.exec(statement) ?? [];
  return statements.some((other) => other.startsWith(`ALTER TABLE ${table} ADD COLUMN ${column} `));
}

/** The last step that stops older programs, and how it does. */
const STOPS = { version: 11, by: "ALTER TABLE checkpoint_threads RENAME TO threads" };

it("[OPS-11] the steps of the history after the first ones only add, and one renames a table", () => {
  for (const dialect of [sqliteDialect, postgresDialect]) {
    const later = migrations.filter(({ version }) => version > 3);
    const breaking = later.flatMap(({ version, ...step }) => {
      const statements = step.statements(dialect);
      return statements
        .filter((statement) => !ADDS.test(statement) && !isNewKey(statement, statements))
        .map((statement) => ({ version, statement }));
    });
    expect(breaking).toEqual([{ version: STOPS.version, statement: STOPS.by }]);
  }
  for (const breaking of [
    "DROP TABLE messages",
    "ALTER TABLE sessions RENAME COLUMN title TO name",
    "ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL",
    "CREATE UNIQUE INDEX one ON sessions (title)",
    "CREATE UNIQUE INDEX one ON sessions (title) WHERE title IS NOT NULL",
  ]) {
    expect(breaking).not.toMatch(ADDS);
    expect(isNewKey(breaking, [breaking, "ALTER TABLE sessions ADD COLUMN other TEXT"])).toBe(
      false,
    );
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
    await becomeNewer(newer, engine);
    const appended = await older.write(appendUserMessage, { reference: id, content: "still here" });
    expect(appended.message.seq).toBe(1);
    await older.write(createSession, {});
    expect((await older.read(listSessions, { limit: 9 })).sessions).toHaveLength(2);
    await expect(database.open()).rejects.toMatchObject({ code: "database_newer" });
  });

  // as the step to version 11 does it to programs of version 10, which know the table as another
  it("[OPS-20] whose table of threads gets another name serves the six routes without loss, and reads and writes no checkpoint", async () => {
    const database = await engine.create();
    const store = await database.open();
    await using server = await startTestServer({ store });
    const exchanger = createExchanger(agentOptions(store));
    const exchange = (session_id: string) =>
      exchanger.exchange(
        { session_id, text: "hello" },
        { listener: () => undefined, signal: new AbortController().signal },
      );
    const id = await server.newSession();
    await exchange(id);
    const stream = await openStream(server.url, `/api/sessions/${id}/stream`);
    const before = await stream.received(2);

    const newer = await database.open();
    await execute(newer, "ALTER TABLE threads RENAME TO renamed");
    await becomeNewer(newer, engine);

    const ack = await server.call<SessionAck>("POST", `/api/sessions/${id}/messages`, {
      body: { content: "after" },
    });
    expect(ack).toMatchObject({ status: 201, json: { seq: before.length + 1 } });
    const received = await stream.received(before.length + 1);
    expect(received.at(-1)).toMatchObject({ content: "after" });
    stream.cut();
    const other = await server.newSession();
    expect((await server.call("POST", `/api/sessions/${other}/end`)).status).toBe(200);
    const list = await server.call<unknown[]>("GET", "/api/sessions");
    expect(list.json).toHaveLength(2);
    const detail = await server.call<SessionDetail>("GET", `/api/sessions/${id}`);
    expect(detail.json.messages).toEqual(received);

    const missing = { message: expect.stringMatching(/threads/) };
    const saver = createCheckpointSaver({ store });
    const thread = { configurable: { thread_id: `${id}:0` } };
    const checkpoint = { configurable: { thread_id: "of no session", checkpoint_id: "1" } };
    await expect(saver.getTuple(thread)).rejects.toMatchObject(missing);
    await expect(saver.putWrites(checkpoint, [["a", 1]], "task")).rejects.toMatchObject(missing);
    await expect(exchange(id)).rejects.toMatchObject(missing);
    await expect(exchange(await server.newSession())).rejects.toMatchObject(missing);
    await expect(database.open()).rejects.toMatchObject({ code: "database_newer" });

    await execute(newer, "ALTER TABLE renamed RENAME TO threads");
    expect((await verifySession(newer, id)).findings).toEqual([]);
  });
});

async function becomeNewer(store: Store, { name }: Engine): Promise<void> {
  await execute(
    store,
    name === "sqlite"
      ? "PRAGMA user_version = 9999"
      : "INSERT INTO reprise_migrations (version, name) VALUES (9999, 'later')",
  );
}
