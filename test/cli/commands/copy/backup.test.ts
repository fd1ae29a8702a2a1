import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it, vi } from "vitest";

import { freshHome } from "../../../helpers/reprise.ts";
import { temporaryFolder } from "../../../helpers/temp.ts";
import { detailOf, idLike, seed } from "../../../helpers/sessions/seed.ts";

interface BackupAnswer {
  readonly path: string;
  readonly bytes: number;
  readonly sessions: number;
  readonly threads: number;
}

function query<T>(path: string, statement: string): T[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(statement).all() as T[];
  } finally {
    database.close();
  }
}

it("[MOVE-1] [MOVE-2] a backup finishes while a server writes, and holds one consistent state", async () => {
  const home = freshHome();
  const target = join(temporaryFolder(), "copy.db");
  const server = home.start(["serve", "--port", "0"]);
  const [, url = ""] = await server.waitFor(/listening on (\S+)/);
  const ids = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const answer = await fetch(`${url}/api/sessions`, { method: "POST" });
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  let writing = true;
  const stored = new Map(ids.map((id) => [id, 0]));
  const writers = ids.flatMap((id) =>
    Array.from({ length: 4 }, async () => {
      while (writing) {
        const answer = await fetch(`${url}/api/sessions/${id}/messages`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ content: "x".repeat(2000) }),
        });
        expect(answer.status).toBe(201);
        const { seq } = (await answer.json()) as { seq: number };
        stored.set(id, Math.max(seq, stored.get(id) ?? 0));
      }
    }),
  );
  await vi.waitFor(() => expect(Math.min(...stored.values())).toBeGreaterThan(50), {
    timeout: 240_000,
  });
  const before = new Map(stored);
  const answer = await home.json<BackupAnswer>(["backup", target, "--json"]);
  const during = new Map(stored);
  writing = false;
  await Promise.all(writers);
  await server.stop("SIGTERM");

  expect(answer).toEqual({ path: target, bytes: statSync(target).size, sessions: 4, threads: 0 });
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(query(target, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  const rows = query<{ id: string; last_seq: number; rows: number; first: number; last: number }>(
    target,
    `SELECT id, last_seq, count(*) AS rows, min(seq) AS first, max(seq) AS last
       FROM sessions JOIN messages ON session_id = id GROUP BY id`,
  );
  expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort());
  for (const { id, last_seq, rows: count, first, last } of rows) {
    expect([first, last, count]).toEqual([1, last_seq, last_seq]);
    expect(last_seq).toBeGreaterThanOrEqual(before.get(id) ?? 0);
  }
  // writers were not held up: more was stored while it was copied
  expect([...during.values()].some((seq, index) => seq > ([...before.values()][index] ?? 0))).toBe(
    true,
  );
  const detail = await home.json<{ last_seq: number }>([
    "sessions",
    "show",
    ids[0] ?? "",
    "--json",
    "--database",
    target,
  ]);
  expect(detail.last_seq).toBe(rows.find(({ id }) => id === ids[0])?.last_seq);
});

it("[MOVE-1] reports the threads that belong to no session", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("abcdef1") });
  const [own, free] = [`${idLike("abcdef1")}:0`, `${idLike("abcdef2")}:0`];
  const database = new DatabaseSync(home.database);
  database.exec(`INSERT INTO threads (thread_id) VALUES ('${own}'), ('${free}'), ('mine')`);
  database.close();
  const target = join(temporaryFolder(), "copy.db");
  const { stdout } = await home.call(["backup", target]);
  expect(stdout).toContain("  1 session, 2 threads without a session, ");
  expect(await home.json(["backup", target, "--force", "--json"])).toMatchObject({ threads: 2 });
});

it("[MOVE-3] a backup replaces no file without --force, and never the database itself", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("abcdef1"), messages: ["one"] });
  const folder = temporaryFolder();
  const taken = join(folder, "taken.db");
  writeFileSync(taken, "precious");
  linkSync(home.database, join(folder, "hard.db"));
  symlinkSync(home.database, join(folder, "soft.db"));
  writeFileSync(join(folder, "open.db-wal"), "");
  const refusals: readonly [target: string, code: string][] = [
    [taken, "invalid_usage"],
    [home.database, "invalid_usage"],
    [`${home.database}-wal`, "invalid_usage"],
    [join(folder, "hard.db"), "invalid_usage"],
    [join(folder, "soft.db"), "invalid_usage"],
    [join(folder, "open.db"), "invalid_usage"],
    [folder, "invalid_usage"],
    [join(folder, "none", "copy.db"), "file_unwritable"],
  ];
  const before = readdirSync(folder).sort();
  for (const [target, code] of refusals) {
    const force = target === taken ? [] : ["--force"];
    const { code: exit, stdout, stderr } = await home.call(["backup", target, ...force]);
    expect({ target, exit, stdout }).toEqual({
      target,
      exit: code === "invalid_usage" ? 2 : 1,
      stdout: "",
    });
    expect(stderr).toContain(`[${code}]`);
  }
  expect((await home.call(["backup", taken])).stderr).toContain("replace it with --force");
  expect(readFileSync(taken, "utf8")).toBe("precious");
  expect(readdirSync(folder).sort()).toEqual(before);
  expect(await detailOf(home, "abcdef")).toMatchObject({ last_seq: 1 });

  const forced = await home.call(["backup", taken, "--force"]);
  expect(forced).toMatchObject({ code: 0, stderr: "" });
  expect(forced.stdout).toBe(`Backed up: ${taken}  1 session, ${statSync(taken).size} bytes\n`);
  expect(query(taken, "SELECT id FROM sessions")).toEqual([{ id: idLike("abcdef1") }]);
});

it("[MOVE-3] [MOVE-16] a file that is not a database of Reprise is refused, and the database is not changed", async () => {
  const home = freshHome();
  const folder = temporaryFolder();
  const path = (name: string): string => join(folder, name);
  const foreign = new DatabaseSync(path("foreign.db"));
  foreign.exec("CREATE TABLE t (x)");
  foreign.close();
  writeFileSync(path("text.db"), "no database at all ".repeat(100));
  const refused = async (database: string): Promise<string> =>
    (await home.call(["backup", path("copy.db"), "--database", database])).stderr;
  expect(await refused(path("none.db"))).toContain("[database_unavailable]");
  expect(existsSync(path("none.db"))).toBe(false);
  expect(await refused(path("foreign.db"))).toContain("[database_foreign]");
  expect(await refused(path("text.db"))).toContain("[database_corrupt]");
  expect(await refused("postgres://somewhere/else")).toMatch(/pg_dump.*\[database_unsupported\]/);
  expect(readdirSync(folder).sort()).toEqual(["foreign.db", "text.db"]);

  await seed(home, { id: idLike("abcdef1"), messages: ["one"] });
  const before = readFileSync(home.database);
  expect(await home.call(["backup", path("copy.db")])).toMatchObject({ code: 0 });
  expect(readFileSync(home.database)).toEqual(before);
  expect(query(path("copy.db"), "PRAGMA application_id")).toEqual([{ application_id: 0x72707273 }]);
});

it("[MOVE-2] [MOVE-15] a backup that is stopped leaves nothing behind", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("abcdef1"), messages: ["one"] });
  const folder = temporaryFolder();
  const holder = new DatabaseSync(home.database);
  // nobody can read: the backup waits with its file begun
  holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE sessions SET title = ''");
  const backup = home.start(["backup", join(folder, "copy.db")]);
  await vi.waitFor(() => expect(readdirSync(folder)).toHaveLength(1), {
    timeout: 240_000,
    interval: 5,
  });
  const { code, signal } = await backup.stop("SIGINT");
  expect({ code, signal }).toEqual({ code: null, signal: "SIGINT" });
  expect(readdirSync(folder)).toEqual([]);
  holder.close();
});
