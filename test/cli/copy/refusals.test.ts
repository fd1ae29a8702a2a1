import { existsSync, linkSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it, onTestFinished } from "vitest";

import { writeEarlierDatabase } from "../../helpers/earlier-builds.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { idLike, seed, sessionsOf } from "../../helpers/sessions/seed.ts";

async function homeWithSessions(): Promise<Home> {
  const home = freshHome();
  await seed(
    home,
    { id: idLike("aaaaaa1"), messages: ["one", "two"], archived: 1 },
    { id: idLike("bbbbbb1"), messages: ["three"], ended: true },
  );
  return home;
}

it("[COPY-6] the same database is refused under every name", async () => {
  const home = await homeWithSessions();
  const link = join(home.project, "link.db");
  const hard = join(home.project, "hard.db");
  symlinkSync(home.database, link);
  linkSync(home.database, hard);
  const before = await sessionsOf(home);
  for (const to of [home.database, link, hard, `${home.database}-wal`, `${home.database}-shm`]) {
    const { code, stderr, stdout } = await home.call(["copy", "--to", to]);
    expect({ code, stdout }, to).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/the same database.*\[invalid_usage\]\n$/);
  }
  expect(await sessionsOf(home)).toEqual(before);
});

it("[COPY-6] [COPY-9] [PG-8] [COPY-13] one PostgreSQL is known by every address, and no password is shown", async () => {
  const home = await homeWithSessions();
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const { url } = database;
  const password = new URL(url).password;
  const elsewhere = url.replace("127.0.0.1", "localhost").replace(/^postgres:/, "postgresql:");
  const same = await home.call(["copy", "--from", url, "--to", `${elsewhere}?pool_size=2`]);
  expect(same).toMatchObject({ code: 2, stdout: "" });
  expect(same.stderr).toMatch(/the same database.*\[invalid_usage\]\n$/);

  const copied = await home.call(["copy", "--to", url, "--json"]);
  expect(copied).toMatchObject({ code: 0, stderr: "" });
  const report = JSON.parse(copied.stdout) as { from: string; to: string };
  expect(report).toEqual({
    ok: true,
    from: home.database,
    to: expect.stringContaining(database.name),
    copied: { sessions: 2, messages: 3, threads: 0, checkpoints: 0 },
    present: { sessions: 0, messages: 0, threads: 0, checkpoints: 0 },
    refused: [],
    changed: [],
    refused_threads: [],
    changed_threads: [],
    unowned_threads: 0,
  });
  const refused = await home.call(["copy", "--from", url, "--to", url.replace(/:\d+\//, ":1/")]);
  expect(refused.stderr).toMatch(/^reprise: --to: .*\[database_unavailable\]\n$/);
  for (const { stdout, stderr } of [same, copied, refused]) {
    expect(stdout + stderr).not.toContain(password);
    expect(stdout + stderr).not.toContain(decodeURIComponent(password));
  }
});

it("[COPY-7] a source that cannot be read unchanged makes no target and stays unchanged", async () => {
  const home = freshHome();
  const target = join(home.project, "target.db");
  writeEarlierDatabase("fe83431e", join(home.project, "old.db"));
  const foreign = new DatabaseSync(join(home.project, "saver.db"));
  foreign.exec("CREATE TABLE checkpoints (thread_id TEXT, checkpoint BLOB)");
  foreign.close();
  writeFileSync(join(home.project, "empty.db"), "");
  writeFileSync(join(home.project, "text.db"), "no database ".repeat(100));
  for (const [from, code] of [
    ["nowhere.db", "database_unavailable"],
    ["empty.db", "database_unavailable"],
    ["text.db", "database_corrupt"],
    ["old.db", "database_too_old"],
    ["saver.db", "database_foreign"],
  ] as const) {
    const refused = await home.call(["copy", "--from", from, "--to", target]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(new RegExp(`^reprise: --from: .*\\[${code}\\]\\n$`));
    expect(refused.stderr.includes("--from-langgraph")).toBe(code === "database_foreign");
  }
  // SQLite leaves a log without content beside what it has read
  expect(
    readdirSync(home.project)
      .filter((name) => !/-(shm|wal)$/.test(name))
      .toSorted(),
  ).toEqual(["empty.db", "old.db", "saver.db", "text.db"]);
});

it("[COPY-9] [COPY-10] a damaged session is reported with its database", async () => {
  const home = await homeWithSessions();
  const database = new DatabaseSync(home.database);
  database.exec("UPDATE messages SET tool_calls = '{' WHERE content = 'three'");
  database.close();
  const { code, stdout, stderr } = await home.call(["copy", "--to", join(home.project, "b.db")]);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: "Copied: 1 session, 2 messages, 0 threads, 0 checkpoints\n",
  });
  expect(stderr).toMatch(
    new RegExp(`^Not copied: ${idLike("bbbbbb1")} {2}--from: .*\\[database_corrupt\\]\\n$`),
  );
});

it("[COPY-5] [COPY-9] [CLI-3] [COPY-12] reports what was copied and what was not, also by its exit code", async () => {
  const home = await homeWithSessions();
  const to = join(home.project, "b.db");
  const copy = ["copy", "--to", to];
  expect(await home.call(copy)).toEqual({
    code: 0,
    stdout: "Copied: 2 sessions, 3 messages, 0 threads, 0 checkpoints\n",
    stderr: "",
  });
  await seed({ ...home, database: to }, { id: idLike("cccccc1") });
  const stranger = await home.call(copy);
  expect(stranger).toMatchObject({ code: 2, stdout: "" });
  expect(stranger.stderr).toMatch(/not empty.*--into-existing.*\[invalid_usage\]\n$/);

  await home.call(["sessions", "end", "aaaaaa"]);
  const different = await home.call([...copy, "--into-existing"]);
  expect(different).toMatchObject({
    code: 1,
    stdout:
      "Copied: 0 sessions, 0 messages, 0 threads, 0 checkpoints\nSkipped (identical): 1 session, 1 message, 0 threads, 0 checkpoints\n",
  });
  expect(different.stderr).toMatch(
    new RegExp(`^Not copied: ${idLike("aaaaaa1")} {2}.*\\[session_exists\\]\\n$`),
  );
  for (const args of [["copy"], ["copy", "--to", ""], ["--database", to, ...copy, "--from", to]]) {
    expect(await home.call(args)).toMatchObject({ code: 2, stdout: "" });
  }
  expect(existsSync(join(home.project, "copy"))).toBe(false);
});
