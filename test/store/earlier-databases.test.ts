import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";

import { backupSqlite } from "../../src/store/engines/sqlite/backup/backup.ts";
import { checkDatabase } from "../../src/store/engines/sqlite/check-database.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { openSqliteSource } from "../../src/store/engines/sqlite/open-source.ts";
import { planSqliteUpgrade } from "../../src/store/engines/sqlite/backup/plan-upgrade.ts";
import { openPostgresStore } from "../../src/store/engines/postgres/open.ts";
import { openPostgresSource } from "../../src/store/engines/postgres/open-source.ts";
import { planPostgresUpgrade } from "../../src/store/engines/postgres/plan-upgrade.ts";
import { EARLIER_BUILDS, writeEarlierDatabase } from "../helpers/earlier-builds.ts";
import { makeEmptyFile } from "../helpers/empty-file.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { temporaryFolder } from "../helpers/temp.ts";

/** What is wrong, the last commit that can export it, and what to do there and here. */
const refusal = {
  name: "RepriseError",
  code: "database_too_old",
  message: expect.stringMatching(
    /before the first release.*commit fe83431e \(`reprise sessions export <id>`\).*`reprise sessions import <file>`/,
  ),
};

describe("a database of a build before the baseline", () => {
  it.each(EARLIER_BUILDS)(
    "[STORE-84] a file of %s is refused and left unchanged",
    async (build) => {
      const path = join(temporaryFolder(), "reprise.db");
      writeEarlierDatabase(build, path);
      const before = readFileSync(path);
      const target = join(dirname(path), "copy.db");

      await expect(openSqliteStore({ path })).rejects.toMatchObject(refusal);
      expect(() => openSqliteSource({ path })).toThrow(expect.objectContaining(refusal));
      expect(() => planSqliteUpgrade(path, { backup: true })).toThrow(
        expect.objectContaining(refusal),
      );
      const backup = backupSqlite({ database: path, target, overwrite: false });
      await expect(backup).rejects.toMatchObject(refusal);
      const { checks, isCurrent } = checkDatabase(path, true);
      expect(isCurrent).toBe(false);
      expect(checks).toContainEqual({
        name: "version",
        status: "failed",
        sentence: refusal.message,
      });

      expect(readFileSync(path)).toEqual(before);
      expect(readdirSync(dirname(path)).filter((name) => !/-(wal|shm)$/.test(name))).toEqual([
        "reprise.db",
      ]);
    },
  );

  it.each([1, 10, 22])(
    "[STORE-84] on PostgreSQL, one of schema version %i is refused and left unchanged",
    async (version) => {
      const database = await createPostgres({ tables: false });
      onTestFinished(() => database[Symbol.asyncDispose]());
      const client = new Client({ connectionString: database.url });
      await client.connect();
      onTestFinished(() => client.end());
      await client.query(
        `CREATE TABLE reprise_migrations (version integer PRIMARY KEY, name text NOT NULL);
         INSERT INTO reprise_migrations SELECT n, 'step' FROM generate_series(1, ${version}) AS n;
         CREATE TABLE sessions (id text PRIMARY KEY)`,
      );
      const { url } = database;

      await expect(openPostgresStore({ url })).rejects.toMatchObject(refusal);
      await expect(openPostgresSource({ url })).rejects.toMatchObject(refusal);
      await expect(planPostgresUpgrade({ url })).rejects.toMatchObject(refusal);

      const { rows } = await client.query(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
      );
      expect(rows.map(({ tablename }) => tablename)).toEqual(["reprise_migrations", "sessions"]);
    },
  );
});

/** Columns of the last build before the baseline that it left out: docs/decisions.md says why. */
const LEFT_OUT = ["sessions.failure_epoch", "questions.effect"];

describe("what the last build before the baseline had in its database", () => {
  it("is there on SQLite, but for what was left out", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    await makeEmptyFile(path);
    const now = new Set(schemaOf(path));
    const missing = schemaOf(earlierFile()).filter((line) => !now.has(line));
    expect(missing.map(nameOf)).toEqual(LEFT_OUT);
  });

  it("is there on PostgreSQL, but for what was left out", async () => {
    const database = await createPostgres();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const client = new Client({ connectionString: database.url });
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema()
       UNION SELECT 'index ' || indexname FROM pg_indexes WHERE schemaname = current_schema()`,
    );
    const now = new Set(rows.map(({ name }) => name));
    const old = schemaOf(earlierFile()).map(nameOf);
    expect(old.filter((name) => !now.has(name))).toEqual(LEFT_OUT);
  });
});

function earlierFile(): string {
  const path = join(temporaryFolder(), "earlier.db");
  writeEarlierDatabase("fe83431e", path);
  return path;
}

/** A line for each column of a table, and for each index, with all that is declared of it. */
function schemaOf(path: string): readonly string[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const lines = database.prepare(
    `SELECT t.name || '.' || c.name || ': ' || c.type || ' ' || c."notnull" || c.pk || c.hidden ||
       coalesce(' ' || c.dflt_value, '') AS line
     FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
     WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'
     UNION ALL SELECT 'index ' || name || ': ' || sql FROM sqlite_schema
     WHERE type = 'index' AND sql IS NOT NULL`,
  );
  return lines.all().map(({ line }) => String(line).replaceAll(/\s+/g, " "));
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(":"));
}
