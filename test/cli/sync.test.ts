import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../src/store/records/sessions/delete-tree.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import type { Store } from "../../src/store/store.ts";
import { freshHome, type Home, unusedHome } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";
import { expectSound } from "../helpers/sessions/forks.ts";
import { sharedState } from "../helpers/sessions/sync.ts";
import { testSize } from "../helpers/size.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const canMakeTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

interface Answer {
  readonly ok: boolean;
  readonly dry_run: boolean;
  readonly same: number;
  readonly sessions: readonly {
    readonly session_id: string;
    readonly title: string | null;
    readonly here: string;
    readonly there: string;
    readonly fork: string | null;
    readonly code: string | null;
  }[];
}

/** Runs something on a database that no command has open. */
async function inStore<T>(path: string, work: (store: Store) => Promise<T>): Promise<T> {
  await using store = await openSqliteStore({ path });
  return await work(store);
}

/** Two homes with a session in both, one in each, and one that went apart. */
async function twoHomes(): Promise<{ readonly home: Home; readonly other: string }> {
  const home = freshHome();
  await seed(home, { id: idLike("aaaaaa1"), messages: ["of both"] }, { messages: ["goes apart"] });
  const other = join(temporaryFolder(), "other.db");
  expect((await home.call(["copy", "--to", other])).code).toBe(0);
  await seed(home, { messages: ["of here"] });
  await inStore(other, async (store) => {
    const { id } = await store.write(createSession, {});
    await store.write(appendUserMessage, { reference: id, content: "of there" });
    const rows = await store.read(
      ({ db }) =>
        db.selectFrom("sessions").select("id").where("title", "=", "goes apart").execute(),
      null,
    );
    const apart = rows[0]?.id ?? "";
    await store.write(appendUserMessage, { reference: apart, content: "there" });
    await inStore(home.database, (own) =>
      own.write(appendUserMessage, { reference: apart, content: "here" }),
    );
  });
  return { home, other };
}

it("[CLI-440] [CLI-441] [SYNC-20] sync brings both databases to the same sessions, and --dry-run says so before", async () => {
  const { home, other } = await twoHomes();
  const before = [await inStore(home.database, sharedState), await inStore(other, sharedState)];
  const rehearsed = await home.json<Answer>(["sync", "--with", other, "--dry-run", "--json"]);
  expect([await inStore(home.database, sharedState), await inStore(other, sharedState)]).toEqual(
    before,
  );
  const shown = await home.call(["sync", "--with", other, "--dry-run"]);
  expect(shown.stdout).toContain("Nothing was changed. A run would do this:\n");
  const done = await home.json<Answer>(["sync", "--with", other, "--json"]);
  expect(done).toEqual({ ...rehearsed, dry_run: false });
  expect(done).toMatchObject({ ok: true, same: 1 });
  expect(done.sessions.map(({ title, fork }) => `${title} ${fork !== null}`).toSorted()).toEqual([
    "goes apart true",
    "of here false",
    "of there false",
  ]);
  const after = [await inStore(home.database, sharedState), await inStore(other, sharedState)];
  expect(after[0]).toEqual(after[1]);
  expect((await home.call(["sync", "--with", other])).stdout).toBe(
    "Here: 0 added, 0 updated, 0 deleted, 0 forks\nThere: 0 added, 0 updated, 0 deleted, 0 forks\nSame in both: 5 sessions\n",
  );
});

it("[CLI-441] a rehearsal without a database of this machine says what would be added, and makes none", async () => {
  const { other } = await twoHomes();
  const home = unusedHome();
  const answer = await home.json<Answer>(["sync", "--with", other, "--dry-run", "--json"]);
  expect(answer.sessions.map(({ here }) => here)).toEqual(["added", "added", "added"]);
  expect(() => readFileSync(home.database)).toThrow("ENOENT");
});

it("[CLI-442] [CLI-444] a file that is not another database of this version is refused with a sentence, and stays unchanged", async () => {
  const home = freshHome();
  await seed(home, { messages: ["one"] });
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder, name);
  writeFileSync(at("text"), "no database");
  mkdirSync(at("folder"));
  const foreign = new DatabaseSync(at("foreign.db"));
  foreign.exec("CREATE TABLE notes (text)");
  foreign.close();
  for (const [name, version] of [
    ["older.db", 3],
    ["newer.db", 99],
  ] as const) {
    expect((await home.call(["copy", "--to", at(name)])).code).toBe(0);
    const database = new DatabaseSync(at(name));
    database.exec(`PRAGMA user_version = ${version}`);
    database.close();
  }
  const refusals = [
    [at("missing.db"), "database_unavailable", 1],
    [at("folder"), "database_unavailable", 1],
    [at("text"), "database_corrupt", 1],
    [at("foreign.db"), "database_foreign", 1],
    [at("older.db"), "database_unsupported", 1],
    [at("newer.db"), "database_newer", 1],
    [home.database, "invalid_usage", 2],
    ["", "invalid_usage", 2],
    ["postgres://ada:geheim@127.0.0.1:1/none", "database_unavailable", 1],
  ] as const;
  for (const [location, code, exit] of refusals) {
    const result = await home.call(["sync", "--with", location]);
    expect([location, result.code, result.stdout]).toEqual([location, exit, ""]);
    expect(result.stderr).toMatch(new RegExp(`^reprise: .*\\[${code}\\]\\n$`));
    expect(result.stderr).not.toContain("geheim");
  }
  expect(readFileSync(at("text"), "utf8")).toBe("no database");
});

it("[CLI-443] [SYNC-16] [SYNC-17] a damaged session is named, the others are synced, and the exit code is its code's", async () => {
  const { home, other } = await twoHomes();
  const database = new DatabaseSync(other);
  database.exec("UPDATE messages SET seq = 7 WHERE content = 'of there'");
  // a mark that would let this machine send what the other one made
  database.exec("UPDATE sessions SET prefix_mark = 'forged'");
  database.close();
  const result = await home.call(["sync", "--with", other]);
  expect(result.code).toBe(1);
  expect(result.stderr).toMatch(
    /^Not synced: [0-9a-f-]{36} {2}The session is damaged in the other database .* \[export_invalid\]\n$/,
  );
  expect(result.stdout).toContain("There: 1 added, 1 updated, ");
  const marks = await inStore(home.database, (store) =>
    store.read(({ db }) => db.selectFrom("sessions").select("prefix_mark").execute(), null),
  );
  expect(JSON.stringify(marks)).not.toContain("forged");
});

/** A home with 12 sessions, and another database that has deleted all of them. */
async function emptiedOther() {
  const home = freshHome();
  await seed(home, ...Array.from({ length: 12 }, (_, at) => ({ messages: [`session ${at}`] })));
  const other = join(temporaryFolder(), "other.db");
  await home.call(["copy", "--to", other]);
  await inStore(other, async (store) => {
    for (const id of (await sharedState(store)).keys()) {
      await store.write(deleteSessionTree, { id });
    }
  });
  return { home, other, left: async () => (await inStore(home.database, sharedState)).size };
}

it("[SYNC-24] a run that would delete many sessions is refused without a terminal, and --allow-deletions lets it", async () => {
  const { home, other, left } = await emptiedOther();
  const dry = await home.call(["sync", "--with", other, "--dry-run"]);
  const what = "12 of 12 sessions here, which were deleted there";
  expect(dry).toMatchObject({ code: 0, stderr: `A run asks before it deletes ${what}.\n` });
  const refused = await home.call(["sync", "--with", other, "--json"], { input: "y\n" });
  expect([refused.code, refused.stdout, await left()]).toEqual([2, "", 12]);
  expect(refused.stderr).toContain("not_confirmed");
  expect(refused.stderr).toContain(what);
  const allowed = await home.call(["sync", "--with", other, "--allow-deletions"]);
  expect([allowed.code, await left()]).toEqual([0, 0]);
});

it.skipIf(!canMakeTerminal).each([
  ["n\r", 1, 12],
  ["y\r", 0, 0],
])(
  "[SYNC-24] a terminal is asked before many sessions are deleted: %j",
  async (keys, code, count) => {
    const { home, other, left } = await emptiedOther();
    const terminal = home.startShell(`exec script -qfec 'reprise sync --with ${other}' /dev/null`, {
      env: { TERM: "xterm" },
    });
    await terminal.waitFor(/Are these the right databases\? \[y\/N\] /);
    terminal.child.stdin?.write(keys);
    expect([(await terminal.finished).code, await left()]).toEqual([code, count]);
  },
);

it("[CLI-445] bytes that this machine keeps of a session go with it", async () => {
  const { home, other } = await twoHomes();
  const id = idLike("aaaaaa1");
  const kept = join(home.home, ".local/state/reprise/undo", id);
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, "a".repeat(64)), "bytes");
  await inStore(other, (store) => store.write(deleteSessionTree, { id }));
  const { sessions } = await home.json<Answer>(["sync", "--with", other, "--json"]);
  expect(sessions).toContainEqual(expect.objectContaining({ session_id: id, here: "deleted" }));
  expect(() => readFileSync(join(kept, "a".repeat(64)))).toThrow("ENOENT");
});

it("[SYNC-9] [SYNC-10] killed at any moment, two runs at once and a writer beside them: both are whole, and a run does the rest", async () => {
  const rounds = testSize("sync-kills");
  for (let round = 0; round < rounds; round += 1) {
    const { home, other } = await twoHomes();
    await seed(home, ...Array.from({ length: 30 }, (_, at) => ({ messages: [`here ${at}`, "x"] })));
    const script = process.execPath;
    const bin = join(import.meta.dirname, "../../bin/reprise.js");
    const env = { ...process.env, ...home.environment() } as Record<string, string>;
    const start = () =>
      spawn(script, [bin, "sync", "--with", other], { cwd: home.project, env, stdio: "ignore" });
    const runs = [start(), start()];
    const added = await inStore(other, async (store) => {
      const { id } = await store.write(createSession, {});
      for (;;) {
        await store.write(appendUserMessage, { reference: id, content: "beside" });
        const { rows } = await store.read(
          async ({ db }) => ({
            rows: (await db.selectFrom("sessions").select("id").execute()).length,
          }),
          null,
        );
        // at another point in each round
        if (rows > 4 + ((round * 7) % 28) || runs.every(({ exitCode }) => exitCode !== null)) {
          return id;
        }
      }
    });
    for (const run of runs) {
      run.kill("SIGKILL");
    }
    await Promise.all(
      runs.map(async (run) => run.exitCode ?? run.signalCode ?? (await once(run, "exit"))),
    );
    for (const path of [home.database, other]) {
      await inStore(path, async (store) => {
        await expectSound(store, ...(await sharedState(store)).keys());
      });
    }
    expect((await home.call(["sync", "--with", other])).code).toBe(0);
    const [here, there] = [
      await inStore(home.database, sharedState),
      await inStore(other, sharedState),
    ];
    expect(here).toEqual(there);
    expect(here.has(added)).toBe(true);
    expect(here.size).toBe(36);
  }
}, 600_000);
