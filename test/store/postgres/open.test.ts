import { sql } from "kysely";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import { migrations } from "../../../src/store/engines/migrations/history.ts";
import { parseAddress } from "../../../src/store/engines/postgres/address.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { openPostgresSource } from "../../../src/store/engines/postgres/open-source.ts";
import { planPostgresUpgrade } from "../../../src/store/engines/postgres/plan-upgrade.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { LATER, LATER_VERSION } from "../../helpers/later-version.ts";
import { createPostgres, type TestPostgres } from "../../helpers/postgres.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { startOldServer } from "../../helpers/postgres/old-server.ts";

describe("the tables of PostgreSQL", () => {
  it("[PG-1] are made once when five nodes start together", async () => {
    const database = await empty();

    const nodes = Array.from({ length: 5 }, () => startProgram("store-open.ts", [database.url]));

    for (const { finished } of nodes) {
      const { code, stdout, stderr } = await finished;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      // a node that reads the version between two steps of another one announces the rest
      expect(JSON.parse(stdout.split("\n").at(-1) ?? "")).toEqual({ sessions: expect.any(Number) });
    }
    const store = await open(database.url);
    expect((await store.read(listSessions, { limit: 200 })).sessions).toHaveLength(5);
    expect(await rows(database, "SELECT version, name FROM reprise_versions ORDER BY 1")).toEqual(
      migrations.map(({ version, name }) => ({ version, name })),
    );
  });

  it("[PG-1] [UPGRADE-8] of the version before are upgraded once by five nodes of the next one, and it is reported first", async () => {
    const database = await withTables();
    const steps = "SELECT version, name FROM reprise_versions ORDER BY 1";
    const before = await rows(database, steps);

    const nodes = Array.from({ length: 5 }, () =>
      startProgram("store-open.ts", [database.url], LATER),
    );

    const notices: string[] = [];
    for (const { finished } of nodes) {
      const { code, stdout, stderr } = await finished;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      notices.push(...stdout.split("\n").filter((line) => line.includes("notice")));
    }
    expect(notices.length).toBeGreaterThan(0);
    for (const notice of notices) {
      expect(JSON.parse(notice)).toEqual({
        notice: expect.stringMatching(
          /from schema version \d+ to \d+\. .*No backup is made.*docs\/databases.md/,
        ),
      });
    }
    expect(await rows(database, steps)).toEqual([
      ...before,
      { version: LATER_VERSION, name: "later" },
    ]);
    expect(await rows(database, "SELECT DISTINCT later FROM sessions")).toEqual([{ later: "7" }]);
    const again = await startProgram("store-open.ts", [database.url], LATER).finished;
    expect(JSON.parse(again.stdout)).toEqual({ sessions: 6 });
    await expect(openPostgresStore({ url: database.url })).rejects.toMatchObject({
      code: "database_newer",
    });
  });

  it("[UPGRADE-7] are planned and not made", async () => {
    const database = await empty();
    const steps = migrations.map(
      ({ version, name }) => `${String(version).padStart(4, "0")}-${name}`,
    );

    const plan = await planPostgresUpgrade({ url: database.url });

    expect(plan).toEqual({ from: 0, to: LATER_VERSION - 1, steps, backup: null });
    expect(await planPostgresUpgrade({ url: database.url })).toEqual(plan);
    await (await openPostgresStore({ url: database.url })).close();
    expect(await planPostgresUpgrade({ url: database.url })).toMatchObject({ steps: [] });
  });

  it("[PG-2] of a newer program are refused and not changed", async () => {
    const database = await withTables();
    await rows(database, "INSERT INTO reprise_versions (version, name) VALUES (9999, 'later')");

    await expect(openPostgresStore({ url: database.url })).rejects.toMatchObject({
      code: "database_newer",
    });
    expect(await rows(database, "SELECT count(*)::int AS steps FROM reprise_versions")).toEqual([
      { steps: migrations.length + 1 },
    ]);
  });

  it("[PG-2] of an older version are refused beside a table of another program with a name that is needed now", async () => {
    const database = await withTables();
    await rows(database, "CREATE TABLE later_things (name text)");

    const program = startProgram("store-open.ts", [database.url], LATER);

    expect(JSON.parse((await program.finished).stdout)).toEqual({
      code: "database_foreign",
      message: expect.stringContaining("a table `later_things` of another program"),
    });
    expect(await rows(database, "SELECT max(version) AS version FROM reprise_versions")).toEqual([
      { version: LATER_VERSION - 1 },
    ]);
  });

  it.each(["messages", "nodes", "change_position"])(
    "[PG-2] of another program (%s) are refused, and a separate schema keeps both apart",
    async (name) => {
      const database = await empty();
      await rows(database, `CREATE TABLE ${name} (body text); CREATE SCHEMA reprise`);

      await expect(openPostgresStore({ url: database.url })).rejects.toMatchObject({
        code: "database_foreign",
      });
      expect(await rows(database, "SELECT to_regclass('sessions') AS made")).toEqual([
        { made: null },
      ]);
      const store = await open(`${database.url}?options=-c%20search_path%3Dreprise`);
      await store.write(createSession, {});
      expect(await rows(database, "SELECT count(*)::int AS n FROM reprise.sessions")).toEqual([
        { n: 1 },
      ]);
      await expect(
        openPostgresStore({ url: `${database.url}?options=-c%20search_path%3Dnowhere` }),
      ).rejects.toMatchObject({ code: "config_invalid" });
    },
  );

  it("[PG-3] keep content as text, compare keys byte by byte and give times as SQLite does", async () => {
    const database = await withTables();

    const columns = await rows(
      database,
      `SELECT table_name || '.' || column_name AS name, data_type AS type, collation_name AS collation
       FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'reprise_versions'
         AND (table_name, column_name) <> ('search_documents', 'grams')`,
    );

    expect(new Set(columns.map(({ type }) => type))).toEqual(new Set(["text", "bigint"]));
    const ofBytes = columns.filter(({ collation }) => collation === "C").map(({ name }) => name);
    for (const name of ["sessions.id", "sessions.last_activity_at", "messages.message_id"]) {
      expect(ofBytes).toContain(name);
    }
    const store = await open(database.url);
    const { created_at } = await store.write(createSession, {});
    expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // the server's own time zone is another one
    expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(3_600_000);
  });
});

describe("a server that would lose or change what it is given", () => {
  it.each(["off", "local", "remote_write"])(
    "[PG-4] [PG-20] is refused: synchronous_commit = %s",
    async (value) => {
      const database = await empty();
      const url = `${database.url}?options=-c%20synchronous_commit%3D${value}`;

      await expect(openPostgresStore({ url })).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringMatching(/synchronous_commit/),
      });
      expect(await rows(database, "SELECT to_regclass('sessions') AS made")).toEqual([
        { made: null },
      ]);
    },
  );

  it("[PG-4] [PG-20] is found on every connection, not only on the first", async () => {
    const database = await withTables();
    const store = await open(database.url);
    await rows(database, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);

    const settled = await Promise.allSettled(
      Array.from({ length: 20 }, () => store.write(createSession, {})),
    );

    expect(settled.some(({ status }) => status === "rejected")).toBe(true);
    for (const result of settled) {
      if (result.status === "rejected") {
        expect(result.reason).toMatchObject({ code: "config_invalid" });
      }
    }
  });

  it("[PG-4] is refused: a database that is not in UTF-8", async () => {
    const database = await empty();
    const name = `${database.name}_latin`;
    await rows(
      database,
      `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
    );
    onTestFinished(async () => {
      await rows(database, `DROP DATABASE ${name}`);
    });
    const url = new URL(database.url);
    url.pathname = `/${name}`;

    await expect(openPostgresStore({ url: url.href })).rejects.toMatchObject({
      code: "database_unsupported",
    });
  });

  it.each([
    { version: 14, number: 140_023 },
    { version: 9, number: 90_624 },
  ])("[PG-4] is refused, and asked nothing more: PostgreSQL $version", async ({ number }) => {
    await using server = await startOldServer(number);

    await expect(openPostgresStore({ url: server.url })).rejects.toMatchObject({
      code: "database_unsupported",
      message: "The database server is older than PostgreSQL 15; use PostgreSQL 15 to 18.",
    });
    // but for the client's farewell
    expect(server.asked.filter((statement) => statement !== "")).toEqual([]);
  });

  it.each([
    ["YugabyteDB", "PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang"],
    ["CockroachDB", "CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu, built 2025/02/10)"],
  ])("[PG-31] is refused by its name: %s", async (name, product) => {
    await using server = await startOldServer(150_002, product);

    await expect(openPostgresStore({ url: server.url })).rejects.toMatchObject({
      code: "database_unsupported",
      message: `The database server is ${name}, whose row numbers do not grow in the order of commits. Use PostgreSQL 15 to 18.`,
    });
  });

  it.each(["checkpoints", "checkpoint_lists", "checkpoint_bodies"])(
    "[PG-30] is refused while it gives numbers out in blocks: %s",
    async (table) => {
      const database = await withTables();
      const [found] = await rows(
        database,
        `SELECT pg_get_serial_sequence('${table}', 'id') AS name`,
      );
      const sequence = String(found?.["name"]);
      await rows(database, `ALTER SEQUENCE ${sequence} CACHE 20`);

      const refused = {
        code: "database_unsupported",
        message: expect.stringMatching(/\(CACHE 20\).*run ALTER SEQUENCE \w+ CACHE 1,/),
      };
      await expect(openPostgresStore({ url: database.url })).rejects.toMatchObject(refused);
      await expect(openPostgresSource({ url: database.url })).rejects.toMatchObject(refused);
      await expect(planPostgresUpgrade({ url: database.url })).rejects.toMatchObject(refused);

      const [, repair = ""] =
        /run (ALTER SEQUENCE \w+ CACHE 1),/.exec(
          String(await openPostgresStore({ url: database.url }).catch((error: unknown) => error)),
        ) ?? [];
      await rows(database, repair);
      await open(database.url);
    },
  );

  it("[PG-4] [PG-21] is refused with its reason if it is read-only", async () => {
    const onlyReads = "options=-c%20default_transaction_read_only%3Don";
    const blank = await empty();
    await expect(openPostgresStore({ url: `${blank.url}?${onlyReads}` })).rejects.toMatchObject({
      code: "database_readonly",
    });

    const store = await open(`${(await withTables()).url}?${onlyReads}`);
    await expect(store.write(createSession, {})).rejects.toMatchObject({
      code: "database_readonly",
    });
    expect((await store.read(listSessions, { limit: 9 })).sessions).toEqual([]);
  });
});

describe("the address", () => {
  it("[PG-7] chooses pool, time-outs, TLS and hints", () => {
    expect(
      parseAddress(
        "postgres://me:p%40ss@[::1]:6543/my%20db?pool_size=3&statement_timeout=1500&connect_timeout=2&sslmode=no-verify&hints=off",
      ),
    ).toMatchObject({
      servers: [{ host: "::1", port: 6543 }],
      target: "any",
      user: "me",
      password: "p@ss",
      database: "my db",
      poolSize: 3,
      statementTimeoutMs: 1500,
      connectTimeoutMs: 2000,
      tls: { rejectUnauthorized: false },
      hints: false,
    });
    expect(parseAddress("postgresql://host/db")).toMatchObject({
      servers: [{ host: "host", port: 5432 }],
      tls: false,
      hints: true,
      poolSize: 10,
    });
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      const { tls } = parseAddress(`postgres://host/db?sslmode=${mode}`);
      expect(tls).not.toBe(false);
      expect(tls).not.toHaveProperty("rejectUnauthorized");
    }
  });

  it.each([
    "postgres://user:hunter2@host:99999/db",
    "postgres://user:hunter2@host",
    "postgres://user:hunter2@host/db?pool_size=1",
    "postgres://user:hunter2@host/db?pool_size=many",
    "postgres://user:hunter2@host/db?statement_timeout=0",
    "postgres://user:hunter2@host/db?sslmode=prefer",
    "postgres://user:hunter2@host/db?sslmode=require&sslrootcert=/no/such/file",
    "postgres://user:hunter2@host/db?hints=maybe",
    "postgres://user:hunter2@host/db?sslmod=require",
    "postgres://user:hunter2@host/db?hints=on&hints=off",
    "postgres://user:hunter2%zz@host/db",
    "http://user:hunter2@host/db",
  ])("[PG-7] [PG-8] [PG-24] is refused without a word of it: %s", async (url) => {
    const refused = await openPostgresStore({ url }).then(
      () => null,
      (error: unknown) => error,
    );

    expect(isRepriseError(refused, "config_invalid")).toBe(true);
    expect(everything(refused)).not.toContain("hunter2");
  });

  it("[PG-8] shows its password nowhere", async () => {
    const database = await withTables();
    const password = new URL(database.url).password;
    const store = await open(database.url);
    expect(store.location).not.toContain(password);
    expect(store.location).toMatch(/^postgres:\/\/\w+@[\w.]+:\d+\/reprise_test_\w+$/);

    const wrong = new URL(database.url);
    wrong.password = "hunter2";
    const unreachable = new URL(database.url);
    unreachable.port = "1";
    const missing = new URL(database.url);
    missing.pathname = "/missing";
    const plain = `${database.url}?sslmode=verify-full`;
    for (const url of [wrong.href, unreachable.href, missing.href, plain]) {
      const refused = await openPostgresStore({ url }).catch((error: unknown) => error);
      expect(isRepriseError(refused, "database_unavailable")).toBe(true);
      expect(everything(refused)).not.toContain("hunter2");
      expect(everything(refused)).not.toContain(decodeURIComponent(password));
    }
  });

  it("[PG-7] ends a statement that takes longer than statement_timeout, and the store continues", async () => {
    const database = await withTables();
    // what it sends besides has to take less on a loaded machine
    const store = await open(`${database.url}?statement_timeout=3000`);

    await expect(
      store.write(async (tx) => {
        await createSession(tx, {});
        await sql`SELECT pg_sleep(30)`.execute(tx.db);
      }, null),
    ).rejects.toMatchObject({ code: "database_unavailable" });

    await store.write(createSession, {});
    expect((await store.read(listSessions, { limit: 9 })).sessions).toHaveLength(1);
  });
});

async function empty(): Promise<TestPostgres> {
  const database = await createPostgres({ tables: false });
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

async function withTables(): Promise<TestPostgres> {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore({ url });
  onTestFinished(() => store.close());
  return store;
}

async function rows(database: TestPostgres, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows;
  } finally {
    await client.end();
  }
}

/** All that anybody could print of an error. */
function everything(error: unknown): string {
  const parts: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause) {
    parts.push(one.message, one.stack ?? "", JSON.stringify(one), String(one));
  }
  return parts.join("\n");
}
