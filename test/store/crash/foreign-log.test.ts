import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createSession } from "../../../src/store/records/sessions/create.ts";
import { backupSqlite } from "../../../src/store/engines/sqlite/backup/backup.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { contentOf } from "../../helpers/content.ts";

describe("a log beside a database that is not its own", () => {
  it("[STORE-33] is not mixed with a backup that was copied over a database that was not closed", async () => {
    const { path, folder } = await crashedDatabase();
    const backup = join(folder, "backup.db");
    await backupSqlite({ database: path, target: backup, overwrite: false });
    const content = contentOf(backup);
    copyFileSync(backup, path);

    await expectRefused(
      path,
      /belongs to another database.*Move the files ending in -wal and -shm away/,
    );

    renameSync(`${path}-wal`, `${path}.old-wal`);
    rmSync(`${path}-shm`, { force: true });
    await using _ = await openSqliteStore({ path });
    expect(contentOf(path)).toEqual(content);
  });

  it.each<[string, (path: string) => void]>([
    ["missing", (path) => rmSync(path)],
    ["empty", (path) => writeFileSync(path, "")],
  ])("[STORE-33] is not thrown away if the database is %s", async (_, lose) => {
    const { path } = await crashedDatabase();
    const database = readFileSync(path);
    const content = contentOf(path);
    lose(path);

    await expectRefused(path, /missing or empty.*Put the database back beside it/);

    writeFileSync(path, database);
    await using _store = await openSqliteStore({ path });
    expect(contentOf(path)).toEqual(content);
  });

  it.skipIf(!existsSync("/proc/locks"))(
    "is searched for without dropping the locks of a database that this process has open",
    async () => {
      const { path } = await crashedDatabase();
      await using _first = await openSqliteStore({ path });
      const held = locksOf(path);
      expect(held).not.toEqual([]);

      await using _second = await openSqliteStore({ path });

      // closing any descriptor of the file here would have taken them all away
      expect(locksOf(path)).toEqual(held);
    },
  );
});

/** A database whose process was killed: its last messages are in the log only. */
async function crashedDatabase(): Promise<{ path: string; folder: string }> {
  const folder = temporaryFolder();
  const path = join(folder, "reprise.db");
  const store = await openSqliteStore({ path });
  const { id } = await store.write(createSession, {});
  await store.close();
  const program = startProgram("store-append-forever.ts", [path, id]);
  await program.waitFor(/\n20\n/);
  await program.stop("SIGKILL");
  return { path, folder };
}

async function expectRefused(path: string, sentence: RegExp): Promise<void> {
  const files = [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file) : null));
  const refused = openSqliteStore({ path });
  await expect(refused).rejects.toMatchObject({ code: "database_unavailable" });
  await expect(refused).rejects.toThrow(sentence);
  expect(
    [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file) : null)),
  ).toEqual(files);
}

/** The locks that are held on a file, by whichever process. */
function locksOf(path: string): string[] {
  const inode = `:${statSync(path).ino} `;
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .filter((line) => line.includes(inode))
    .map((line) => line.replace(/^\d+: /, ""));
}
