import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { readThreadNames } from "../../../src/store/checkpoints/threads/thread-names.ts";
import { fixture, OfficialFile, statesOf } from "../../helpers/checkpoints/official.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import type { Running } from "../../helpers/process.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { idLike, seed } from "../../helpers/sessions/seed.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

interface Report {
  readonly ok: boolean;
  readonly copied: { readonly threads: number; readonly checkpoints: number };
}

/** Without its thread of 1,003 states, which test/compat/langgraph/states.test.ts copies. */
function officialFile(): string {
  const path = join(temporaryFolder(), "official.db");
  writeFileSync(path, fixture("sqlite.db"));
  using file = new OfficialFile(path);
  file.db.exec("DELETE FROM checkpoints WHERE thread_id = 'long'");
  file.db.exec("DELETE FROM writes WHERE thread_id = 'long'");
  file.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return path;
}

async function officialTables(): Promise<string> {
  const database = await createPostgres({ tables: false });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(fixture("postgres.sql").toString());
  await client.end();
  return database.url;
}

it("[COPY-28] prints what was copied, skipped and refused", async () => {
  const home = freshHome();
  const [from, to] = [officialFile(), join(home.project, "new.db")];
  const copy = ["copy", "--from-langgraph", from, "--to", to];
  expect(await home.call(copy)).toMatchObject({
    code: 0,
    stdout: "Copied: 12 threads, 101 checkpoints\n",
    stderr: "",
  });
  using source = new OfficialFile(from);
  source.add({ thread_id: "bad \u001b[31m", checkpoint_id: "1", checkpoint: "no JSON" });
  const again = await home.call(copy);
  expect(again).toMatchObject({
    code: 1,
    stdout: "Copied: 0 threads, 0 checkpoints\nSkipped (identical): 12 threads, 101 checkpoints\n",
  });
  expect(again.stderr).toMatch(/^Not copied: bad ␛\[31m {2}.* \[database_corrupt\]\n$/);
  const json = await home.call([...copy, "--json"]);
  expect(json).toMatchObject({ code: 1, stderr: "" });
  expect(JSON.parse(json.stdout)).toEqual({
    ok: false,
    from,
    to,
    copied: { threads: 0, checkpoints: 0 },
    present: { threads: 12, checkpoints: 101 },
    refused: [
      { thread_id: "bad \u001b[31m", code: "database_corrupt", detail: expect.any(String) },
    ],
    changed: [],
  });
});

it("[COPY-22] [COPY-28] from PostgreSQL to PostgreSQL, killed on the way, without showing a password", async () => {
  const home = freshHome();
  const from = await officialTables();
  await using database = await createPostgres({ tables: false });
  const copy = ["copy", "--from-langgraph", from, "--to", database.url, "--json"];
  const killed = home.start(copy);
  await someCheckpoint(database.url, killed);
  await killed.stop("SIGKILL");
  const { code, stdout, stderr } = await home.call(copy);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, refused: [], changed: [] });
  expect(stdout).not.toContain(new URL(from).password);
  expect(await home.json(copy)).toMatchObject({ copied: { threads: 0 }, present: { threads: 13 } });
});

it("[COPY-22] leaves the beginning of a thread when it is killed, and completes it", async () => {
  const home = freshHome();
  using source = new OfficialFile();
  const ids = source.addChain("thread", 200);
  for (let round = 0; round < 2; round += 1) {
    const to = join(home.project, `${round}.db`);
    const copy = ["copy", "--from-langgraph", source.path, "--to", to, "--json"];
    const killed = home.start(copy);
    await someCheckpoint(to, killed);
    await killed.stop("SIGKILL");
    expect(ids.slice(0, 200)).toEqual(expect.arrayContaining(await idsAt(to)));
    expect(await home.json<Report>(copy)).toMatchObject({ ok: true });
    expect(await idsAt(to)).toEqual(ids);
    await using store = await openStoreAt(to);
    const [latest] = await statesOf(createCheckpointSaver({ store }), "thread");
    expect(JSON.stringify(latest)).toContain("message 199");
  }
});

async function idsAt(location: string): Promise<string[]> {
  await using store = await openStoreAt(location);
  const names = await store.read(readThreadNames, "thread");
  return names.map(({ checkpoint_id }) => checkpoint_id);
}

/** Waits until a copy has stored something, or has ended. */
async function someCheckpoint(location: string, copying: Running): Promise<void> {
  await using store = await openStoreAt(location);
  const isThere = (): Promise<boolean> =>
    store.read(
      async ({ db }) =>
        (await db.selectFrom("checkpoints").select("id").limit(1).execute()).length > 0,
      null,
    );
  while (!(await isThere()) && copying.child.exitCode === null) {
    await sleep(1);
  }
  expect(copying.child.exitCode ?? 0, copying.stderr()).toBe(0);
}

it("[COPY-27] refuses what no saver made, before a target is created", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("aaaaaa1"), messages: ["one"] });
  const to = join(home.project, "new.db");
  const text = join(home.project, "text");
  writeFileSync(text, "text");
  const [file, empty] = [officialFile(), await createPostgres({ tables: false })];
  onTestFinished(() => empty[Symbol.asyncDispose]());
  const before = readFileSync(file);
  const cases: readonly (readonly [from: string, code: string])[] = [
    [join(home.project, "missing"), "database_unavailable"],
    [text, "database_corrupt"],
    [home.database, "database_foreign"],
    [empty.url, "database_foreign"],
  ];
  for (const [from, code] of cases) {
    const { stderr } = await home.call(["copy", "--from-langgraph", from, "--to", to]);
    expect(stderr).toMatch(new RegExp(`^reprise: --from-langgraph: .*\\[${code}\\]\\n$`));
  }
  const both = await home.call(["copy", "--from-langgraph", file, "--from", file, "--to", to]);
  expect(both).toMatchObject({ code: 2, stdout: "" });
  for (const same of [file, `${file}-wal`]) {
    const { code, stderr } = await home.call(["copy", "--from-langgraph", file, "--to", same]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/the same database.*\[invalid_usage\]\n$/),
    });
  }
  const other = await home.call(["copy", "--from-langgraph", file, "--to", text]);
  expect(other.stderr).toMatch(/^reprise: --to: .*\[database_corrupt\]\n$/);
  expect(existsSync(to)).toBe(false);
  expect(readFileSync(file).equals(before)).toBe(true);
});

it("[COPY-27] keeps the sessions of a target with --into-existing", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("aaaaaa1"), messages: ["one"] });
  const copy = ["copy", "--from-langgraph", officialFile(), "--to", home.database];
  expect(await home.call(copy)).toMatchObject({ code: 2, stdout: "" });
  expect(await home.call([...copy, "--into-existing"])).toMatchObject({ code: 0, stderr: "" });
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
});
