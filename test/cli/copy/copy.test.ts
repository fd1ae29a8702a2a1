import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { beforeAll, expect, it, onTestFinished } from "vitest";

import { readSessionIds } from "../../../src/store/records/sessions/trees/walk.ts";
import { createPostgres, type TestPostgres } from "../../helpers/postgres.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import type { Running } from "../../helpers/process.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { testLevel, testSize } from "../../helpers/size.ts";
import { makeFolder, temporaryFolder } from "../../helpers/temp.ts";
import { type Made, makeAllKinds } from "../../helpers/sessions/all-kinds.ts";
import {
  allColumns,
  exportsOf,
  NOT_COPIED,
  NUMBERED,
  NUMBERS_INSIDE,
  valuesOf,
} from "../../helpers/sessions/stored.ts";

const SESSIONS = testSize("copy");
/** A torture of 1,000 sessions has 100,000 messages. */
const MESSAGES = SESSIONS >= 1000 ? 100 : 22;

let file = "";
let made: Made = { sessions: 0, messages: 0 };
let exported: ReadonlyMap<string, string> = new Map();

beforeAll(async () => {
  const folder = makeFolder();
  file = join(folder.path, "a.db");
  await using store = await openStoreAt(file);
  const began = performance.now();
  made = await makeAllKinds(store, { sessions: SESSIONS, messages: MESSAGES });
  tell(`made ${made.sessions} sessions, ${made.messages} messages`, began);
  exported = await exportsOf(store);
  return () => folder[Symbol.dispose]();
});

/** Figures of a torture; a test asserts no time. */
function tell(what: string, began: number): void {
  if (testLevel() !== "test") {
    console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
}

interface Report {
  readonly ok: boolean;
  readonly copied: Counts;
  readonly present: Counts;
  readonly refused: readonly { readonly session_id: string; readonly code: string }[];
  readonly changed: readonly string[];
}

interface Counts {
  readonly sessions: number;
  readonly messages: number;
}

async function emptyPostgres(): Promise<TestPostgres> {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

async function rootIds(location: string): Promise<string[]> {
  await using store = await openStoreAt(location);
  const rows = await store.read(readSessionIds, { after: "", limit: 1_000_000, roots: true });
  return rows.map(({ id }) => id);
}

async function expectSameAs(location: string): Promise<void> {
  await using store = await openStoreAt(location);
  const there = await exportsOf(store);
  expect([...there.keys()]).toEqual([...exported.keys()]);
  for (const [id, text] of exported) {
    // nobody can read a difference of a megabyte
    expect(there.get(id) === text, `the export of ${id} is the same`).toBe(true);
  }
}

const hashOf = (path: string): string =>
  createHash("sha256").update(readFileSync(path)).digest("hex");

it("[COPY-1] [COPY-2] [COPY-3] [COPY-7] copies everything to PostgreSQL and back, though each copy is killed", async () => {
  const home = freshHome();
  const postgres = await emptyPostgres();
  const back = join(temporaryFolder(), "b.db");
  const bytes = hashOf(file);
  const ids = await rootIds(file);
  const toPostgres = ["copy", "--from", file, "--to", postgres.url, "--json"];

  const half = Math.floor(ids.length / 2);
  await killAt(home, { args: toPostgres, postgres, id: ids[half] ?? "" });
  expect(await rootIds(postgres.url)).toEqual(ids.slice(0, half));
  let began = performance.now();
  const first = await home.json<Report>(toPostgres);
  tell(
    `${first.copied.messages} messages to PostgreSQL, ${first.present.messages} compared`,
    began,
  );
  expect(first).toMatchObject({ ok: true, refused: [], changed: [] });
  expect(first.present.sessions).toBeGreaterThanOrEqual(half);
  expect(first.copied.sessions + first.present.sessions).toBe(made.sessions);
  expect(first.copied.messages + first.present.messages).toBe(made.messages);

  const toFile = ["copy", "--from", postgres.url, "--to", back, "--json"];
  began = performance.now();
  const killed = home.start(toFile);
  await anySession(back, killed);
  await killed.stop("SIGKILL");
  const second = await home.json<Report>(toFile);
  tell(`${made.messages} messages to a file, killed once`, began);
  expect(second.ok).toBe(true);
  expect(second.copied.messages + second.present.messages).toBe(made.messages);

  await expectSameAs(postgres.url);
  await expectSameAs(back);
  if (SESSIONS < 100) {
    // counts rows for each row
    await expectSameColumns([postgres.url, back]);
  }
  const verified = await home.call(["sessions", "verify", "--database", back]);
  const different = verified.stdout.split("\n").filter((line) => line.includes(" differences: "));
  // rows of runs that no run leaves: they show each column
  expect(different.filter((line) => !/: \d+ run$/.test(line))).toEqual([]);
  expect(hashOf(file)).toBe(bytes);
});

/** Kills a copy while it copies this session: our row, not committed, blocks it there. */
async function killAt(
  home: Home,
  input: { readonly args: readonly string[]; readonly postgres: TestPostgres; readonly id: string },
): Promise<void> {
  const client = new Client({ connectionString: input.postgres.url });
  await client.connect();
  await client.query("BEGIN");
  await client.query("INSERT INTO sessions (id) VALUES ($1)", [input.id]);
  const copying = home.start(input.args);
  const waits = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
  const watcher = new Client({ connectionString: input.postgres.server.url });
  await watcher.connect();
  while ((await watcher.query(waits, [input.postgres.name])).rowCount === 0) {
    expect(copying.child.exitCode, copying.stderr()).toBeNull();
    await sleep(5);
  }
  await copying.stop("SIGKILL");
  await client.query("ROLLBACK");
  await client.end();
  // what the killed one had begun is gone once the server has noticed
  const others = "SELECT 1 FROM pg_stat_activity WHERE datname = $1";
  while (((await watcher.query(others, [input.postgres.name])).rowCount ?? 0) > 0) {
    await sleep(5);
  }
  await watcher.end();
}

async function anySession(path: string, copying: Running): Promise<void> {
  await using store = await openStoreAt(path);
  while ((await store.read(readSessionIds, { after: "", limit: 1, roots: true })).length === 0) {
    expect(copying.child.exitCode ?? 0, copying.stderr()).toBe(0);
    await sleep(1);
  }
}

/** Every column of every table is the same in a copy, or it is named why not. */
async function expectSameColumns(copies: readonly string[]): Promise<void> {
  await using source = await openStoreAt(file);
  const columns = new Set(await allColumns(source));
  for (const location of copies) {
    await using copy = await openStoreAt(location);
    for (const column of await allColumns(copy)) {
      columns.add(column);
    }
  }
  const named = [...Object.keys(NOT_COPIED), ...NUMBERED, ...NUMBERS_INSIDE];
  expect(named.filter((column) => !columns.has(column))).toEqual([]);
  const alike: string[] = [];
  for (const column of [...columns].filter((name) => !Object.hasOwn(NOT_COPIED, name))) {
    const values = await valuesOf(source, column);
    if (new Set(values).size === 1) {
      alike.push(column);
    }
    for (const location of NUMBERS_INSIDE.some((each) => each === column) ? [] : copies) {
      await using copy = await openStoreAt(location);
      expect(await valuesOf(copy, column), column).toEqual(values);
    }
  }
  // a column that says the same everywhere would not show that it was left out
  expect(alike).toEqual([]);
}
