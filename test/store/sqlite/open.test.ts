import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openConnection } from "../../../src/store/engines/sqlite/connection.ts";
import { isNetworkFileSystem } from "../../../src/store/engines/sqlite/file.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { SqliteOptions } from "../../../src/store/engines/sqlite/set-up.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Running } from "../../helpers/process.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

describe("a new database", () => {
  it("[STORE-24] is a file of the user's own (0600) in a folder of the user's own (0700)", async () => {
    const folder = join(temporaryFolder(), "deep", "er");
    const path = join(folder, "reprise.db");
    const store = await opened({ path });
    await store.write(createSession, {});

    expect(mode(join(folder, ".."))).toBe(0o700);
    expect(mode(folder)).toBe(0o700);
    for (const suffix of ["", "-wal", "-shm"]) {
      expect(mode(`${path}${suffix}`)).toBe(0o600);
    }
    expect(store.location).toBe(path);
  });

  it("[STORE-24] is 0600 also if the path is a link to a file that does not exist yet", async () => {
    const folder = temporaryFolder();
    symlinkSync(join(folder, "real.db"), join(folder, "link.db"));

    await opened({ path: join(folder, "link.db") });

    expect(mode(join(folder, "real.db"))).toBe(0o600);
  });

  it("leaves the mode of an existing folder", async () => {
    const folder = join(temporaryFolder(), "shared");
    mkdirSync(folder);
    chmodSync(folder, 0o755);

    await opened({ path: join(folder, "reprise.db") });

    expect(mode(folder)).toBe(0o755);
  });

  it("begins in an empty file with a notice, and only there", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    writeFileSync(path, "");
    const notices: string[] = [];
    const notice = (sentence: string): void => {
      notices.push(sentence);
    };

    await (await openSqliteStore({ path, notice })).close();
    await (await openSqliteStore({ path, notice })).close();
    await (await openSqliteStore({ path: `${path}.new`, notice })).close();

    expect(notices).toEqual([expect.stringContaining("empty")]);
  });

  it("accepts names that SQLite gives a special meaning as names of files", async () => {
    const folder = temporaryFolder();
    for (const name of [":memory:", "file:x?mode=memory", "a b%20c#d?mode=ro"]) {
      const path = join(folder, name);
      await using store = await openSqliteStore({ path });
      await store.write(createSession, {});
      expect(statSync(path).size).toBeGreaterThan(0);
    }
  });

  it("[STORE-25] is made once when several processes open it at the same time", async () => {
    const path = join(temporaryFolder(), "data", "reprise.db");

    const results = await Promise.all(
      Array.from({ length: 4 }, () => startProgram("store-open.ts", [path]).finished),
    );

    for (const { code, stdout, stderr } of results) {
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^\{"sessions":[1-4]\}$/),
        stderr: "",
      });
    }
    const store = await opened({ path });
    expect((await store.read(listSessions, { limit: 10 })).sessions).toHaveLength(4);
  });

  it("[STORE-40] does not look emptied to those who open it while it is made", async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = join(temporaryFolder(), "reprise.db");
      const first = startProgram("store-open.ts", [path]);
      await existing(first, path);
      const others = Array.from({ length: 3 }, () => startProgram("store-open.ts", [path]));

      for (const { finished } of [first, ...others]) {
        expect((await finished).stdout).toMatch(/^\{"sessions":[1-4]\}$/);
      }
    }
  });

  it("[STORE-40] does not look emptied after a process that was killed while it made it", async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = join(temporaryFolder(), "reprise.db");
      const program = startProgram("store-open.ts", [path]);
      await existing(program, path);
      await program.stop("SIGKILL");

      const notices: string[] = [];
      await opened({ path, notice: (sentence) => notices.push(sentence) });

      expect(notices).toEqual([]);
      expect(existsSync(`${path}-setup`)).toBe(false);
    }
  });

  it("[STORE-40] removes what a process left that was killed when all was made", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    await (await opened({ path })).close();
    writeFileSync(`${path}-setup`, "");

    await opened({ path });

    expect(existsSync(`${path}-setup`)).toBe(false);
  });

  it("[STORE-40] [STORE-76] is reported as emptied if nobody was making it", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    writeFileSync(path, "");
    // left by a process that was killed while it upgraded
    writeFileSync(`${path}-setup`, "");
    const notices: string[] = [];

    await opened({ path, notice: (sentence) => notices.push(sentence) });

    expect(notices).toEqual([expect.stringContaining("empty")]);
  });

  it("[STORE-25] survives a process that is killed while it makes it", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const program = startProgram("store-open.ts", [path]);
      await existing(program, path);
      await program.stop("SIGKILL");
    }

    const store = await opened({ path });
    const { id } = await store.write(createSession, {});
    expect(await store.read(readSession, { id })).toMatchObject({ id });
  });
});

describe("an existing database", () => {
  it("keeps everything over a restart", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    const first = await opened({ path });
    const { id } = await first.write(createSession, { model: "demo" });
    const { session } = await first.write(appendUserMessage, { reference: id, content: "hi" });
    await first.close();

    const second = await opened({ path });

    expect(await second.read(readSession, { id })).toEqual(session);
    // what was in the log is in the file: nothing else has to be copied for a backup
    await second.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it("[STORE-1] writes a log that is synced at every commit and checks its references", () => {
    const path = join(temporaryFolder(), "reprise.db");
    const connection = openConnection(path, 100);
    onTestFinished(() => connection.close());

    expect(connection.raw.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    expect(connection.raw.prepare("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 1 });
    expect(connection.raw.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 100 });
  });

  it("[STORE-1] has a write-ahead log", async () => {
    const path = await madeDatabase();
    const raw = new DatabaseSync(path);
    onTestFinished(() => raw.close());

    expect(raw.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  it("[STORE-26] is refused if a newer program wrote it, and not changed", async () => {
    const path = await madeDatabase("PRAGMA user_version = 999");
    const before = readFileSync(path);

    const refused = openSqliteStore({ path });

    await expect(refused).rejects.toMatchObject({ name: "RepriseError", code: "database_newer" });
    await expect(refused).rejects.toThrow(/schema version 999.*Update Reprise/);
    expect(readFileSync(path)).toEqual(before);
  });

  it.each([
    ["tables of its own", "CREATE TABLE mine (x)"],
    ["an application id of its own", "PRAGMA application_id = 7"],
    ["a version of its own", "PRAGMA user_version = 1"],
  ])("[STORE-27] is refused if it is another program's, recognised by %s", async (_, statement) => {
    const path = join(temporaryFolder(), "other.db");
    const other = new DatabaseSync(path);
    other.exec(statement);
    other.close();
    const before = readFileSync(path);

    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      name: "RepriseError",
      code: "database_foreign",
    });

    expect(readFileSync(path)).toEqual(before);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it("opens while another process holds the write lock", async () => {
    const path = await madeDatabase();
    const lock = startProgram("store-lock.ts", [path]);
    await lock.waitFor(/locked/);

    const store = await opened({ path, busyTimeoutMs: 20 });

    expect(await store.read(listSessions, { limit: 1 })).toMatchObject({ sessions: [{}] });
  });
});

describe("a file that is not a database", () => {
  const whole = 8192;
  it.each<[string, (path: string) => void]>([
    ["text", (path) => writeFileSync(path, "these are my notes\n".repeat(500))],
    ["one byte", (path) => writeFileSync(path, "x")],
    ["a header without a database", (path) => truncateSync(path, 16)],
    ["half a header", (path) => truncateSync(path, 50)],
    ["a file that was cut off", (path) => truncateSync(path, whole)],
    ["a file that was cut in the middle of a page", (path) => truncateSync(path, whole + 100)],
    ["a damaged header", (path) => damage(path, 0, 16)],
    ["a damaged first page", (path) => damage(path, 100, 3000)],
    ["a page size that does not exist", (path) => damage(path, 16, 2)],
  ])("[STORE-27] is refused as damaged and not changed: %s", async (_, spoil) => {
    const path = await madeDatabase();
    spoil(path);
    const before = readFileSync(path);

    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      name: "RepriseError",
      code: "database_corrupt",
    });

    expect(readFileSync(path)).toEqual(before);
  });

  it("is reported as soon as a page is read that was damaged since; the store stays usable", async () => {
    const path = await madeDatabase();
    const first = await opened({ path });
    const { id } = await first.write(createSession, {});
    for (let index = 0; index < 4; index += 1) {
      await first.write(appendUserMessage, { reference: id, content: "x".repeat(30_000) });
    }
    await first.close();
    // the end of the file holds the last messages
    damage(path, statSync(path).size - 8 * 4096, 8 * 4096);
    const store = await opened({ path });

    await expect(store.read(readDetail, { reference: id, all: true })).rejects.toMatchObject({
      name: "RepriseError",
      code: "database_corrupt",
    });

    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 4 });
  });

  it("is refused if the path is a folder", async () => {
    await expect(openSqliteStore({ path: temporaryFolder() })).rejects.toMatchObject({
      code: "database_unavailable",
    });
  });

  it("is refused if a part of the path is a file", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");

    await expect(openSqliteStore({ path: join(file, "reprise.db") })).rejects.toMatchObject({
      code: "database_unavailable",
    });
    await expect(
      openSqliteStore({ path: join(file, "deeper", "reprise.db") }),
    ).rejects.toMatchObject({ code: "database_unavailable" });
  });

  it("is refused if the name cannot be a file's", async () => {
    const folder = temporaryFolder();

    await expect(openSqliteStore({ path: join(folder, "x".repeat(300)) })).rejects.toMatchObject({
      code: "database_unavailable",
    });
    await expect(openSqliteStore({ path: join(folder, "a\0b") })).rejects.toMatchObject({
      code: "database_unavailable",
    });
  });
});

/** Root writes everywhere, so the program runs as nobody; any other user just takes its own right. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {};

describe("a place that this user may not write", () => {
  it.each<[string, (folder: string, path: string) => void]>([
    [
      "the file",
      (folder, path) => {
        chmodSync(folder, "uid" in nobody ? 0o777 : 0o700);
        chmodSync(path, 0o444);
      },
    ],
    [
      "the file's content",
      (folder, path) => {
        chmodSync(folder, "uid" in nobody ? 0o777 : 0o700);
        chmodSync(path, 0o000);
      },
    ],
    [
      "the folder",
      (folder, path) => {
        chmodSync(path, 0o666);
        chmodSync(folder, 0o555);
      },
    ],
  ])("[STORE-28] is refused as read-only: %s", async (_, protect) => {
    const outer = temporaryFolder();
    chmodSync(outer, 0o755);
    const folder = join(outer, "data");
    const path = join(folder, "reprise.db");
    await (await openSqliteStore({ path })).close();
    protect(folder, path);
    onTestFinished(() => chmodSync(folder, 0o700));

    const { stdout, stderr } = await startProgram("store-open.ts", [path], nobody).finished;

    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ code: "database_readonly" });
  });

  it("[STORE-28] is refused as read-only: a folder in which the file would be created", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o700));

    for (const path of [join(folder, "reprise.db"), join(folder, "data", "reprise.db")]) {
      const { stdout } = await startProgram("store-open.ts", [path], nobody).finished;
      expect(JSON.parse(stdout)).toMatchObject({ code: "database_readonly" });
    }
  });
});

describe("isNetworkFileSystem", () => {
  it.each([
    ["NFS", 0x6969],
    ["SMB", 0x517b],
    ["CIFS", 0xff534d42],
    ["CIFS as a signed number", 0xff534d42 | 0],
    ["SMB2", 0xfe534d42],
    ["9p", 0x01021997],
    ["Ceph", 0x00c36400],
  ])("recognises %s", (_, type) => {
    expect(isNetworkFileSystem(type)).toBe(true);
  });

  it.each([
    ["ext4", 0xef53],
    ["XFS", 0x58465342],
    ["btrfs", 0x9123683e],
    ["tmpfs", 0x01021994],
    ["overlayfs", 0x794c7630],
    ["ZFS", 0x2fc12fc1],
  ])("does not report %s", (_, type) => {
    expect(isNetworkFileSystem(type)).toBe(false);
  });
});

async function opened(options: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}

/** Waits for the file that a program makes. */
async function existing({ child }: Running, path: string): Promise<void> {
  while (!existsSync(path) && child.exitCode === null) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A database with one session that no process has open, changed by one statement. */
async function madeDatabase(statement = "SELECT 1"): Promise<string> {
  const path = join(temporaryFolder(), "reprise.db");
  const store = await openSqliteStore({ path });
  await store.write(createSession, {});
  await store.close();
  const raw = new DatabaseSync(path);
  raw.exec(statement);
  raw.close();
  return path;
}

function damage(path: string, start: number, length: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0xa5, start, start + length);
  writeFileSync(path, bytes);
}

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}
