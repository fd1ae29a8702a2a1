import { existsSync, fstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { backupSqlite } from "../../../src/store/engines/sqlite/backup/backup.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { startProcess } from "../../helpers/process.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const LOCKS = "/proc/locks";

// other processes change the file: this one would drop SQLite's locks when it closes a descriptor

it.each<[string, [string, ...string[]]]>([
  ["cut to two pages", ["truncate", "-s", "8192"]],
  ["emptied", ["truncate", "-s", "0"]],
  ["overwritten by a backup", ["cp", "backup.db"]],
  ["overwritten by an older copy", ["cp", "older.db"]],
])("[STORE-41] nothing is acknowledged into a file that was %s", async (_, command) => {
  const { path, folder, id, store } = await filledStore();
  const append = (content: string) => store.write(appendUserMessage, { reference: id, content });
  await append("before");

  await run(folder, ...command, path);

  await expect(append("after")).rejects.toMatchObject({ code: "database_unavailable" });
  await expect(append("once more")).rejects.toThrow(/cut or overwritten.*restore a backup/);
});

it("[STORE-41] checkpoints and VACUUM of other processes do not count as changes", async () => {
  const { path, folder, id, store } = await filledStore();
  for (const statement of [
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "DELETE FROM messages WHERE seq <= 20; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)",
    "UPDATE sessions SET title = 'x'; PRAGMA wal_checkpoint(PASSIVE)",
  ]) {
    await run(folder, process.execPath, "-e", SQL, path, statement);
    await store.write(appendUserMessage, { reference: id, content: statement });
  }
  expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 33 });
});

it.skipIf(!existsSync(LOCKS))(
  "[STORE-42] a store that is closed leaves the locks of another one on the same file (read from /proc)",
  async () => {
    const { path } = await filledStore();
    const before = locksOn(path);
    const second = await openSqliteStore({ path });

    await second.close();

    expect(before).toHaveLength(1);
    expect(locksOn(path)).toEqual(before);
  },
);

it.skipIf(!existsSync("/dev/fd"))(
  "[SAVER-47] stores that were opened and closed in any order leave no handle of the file open",
  async () => {
    const { path, store } = await filledStore();
    const open = () => openSqliteStore({ path });
    const [second, third] = [await open(), await open()];
    await store.close();
    await third.close();
    await second.close();
    expect(handlesOf(path)).toBe(0);
    // a connection that is not ours: SQLite's locks are the process's, so nothing may be closed
    const foreign = new DatabaseSync(path);
    foreign.exec("BEGIN IMMEDIATE; DELETE FROM messages; ROLLBACK; BEGIN; SELECT * FROM messages");
    const locks = locksOn(path);
    await (await open()).close();
    // SQLite keeps its own handles, too, and uses them again
    const left = handlesOf(path);
    for (let count = 0; count < 3; count += 1) {
      await (await open()).close();
      expect(handlesOf(path)).toBe(left);
      expect(locksOn(path)).toEqual(locks);
    }
    foreign.close();
    const last = await open();
    await (await open()).close();
    await last.close();
    expect(handlesOf(path)).toBe(0);
  },
);

/** How many handles of a file this process has. */
function handlesOf(path: string): number {
  const { ino, dev } = statSync(path);
  return readdirSync("/dev/fd").filter((name) => {
    try {
      const found = fstatSync(Number(name));
      return found.ino === ino && found.dev === dev;
    } catch {
      // the one that listed the folder
      return false;
    }
  }).length;
}

/** The locks of this process on a file: kind, mode and range of each. */
function locksOn(path: string): string[] {
  const { ino } = statSync(path);
  return readFileSync(LOCKS, "utf8")
    .split("\n")
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `))
    .map((line) => line.replace(/^\d+: /, ""));
}

const SQL = `
  const [path, statements] = process.argv.slice(1);
  const database = new (require("node:sqlite").DatabaseSync)(path);
  database.exec(statements);
  database.close();`;

async function run(folder: string, command: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await startProcess(command, args, { cwd: folder }).finished;
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

interface FilledStore {
  readonly folder: string;
  readonly path: string;
  readonly store: Store;
  readonly id: string;
}

/** Thirty messages in the file, an older copy of it and a backup beside it. */
async function filledStore(): Promise<FilledStore> {
  const folder = temporaryFolder();
  const path = join(folder, "reprise.db");
  const first = await openSqliteStore({ path });
  const { id } = await first.write(createSession, {});
  await first.close();
  await run(folder, "cp", path, "older.db");
  const second = await openSqliteStore({ path });
  for (let count = 0; count < 30; count += 1) {
    await second.write(appendUserMessage, { reference: id, content: "x".repeat(4000) });
  }
  await second.close();
  await backupSqlite({ database: path, target: join(folder, "backup.db"), overwrite: false });
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close().catch(() => undefined));
  return { folder, path, store, id };
}
