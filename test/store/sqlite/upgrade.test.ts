import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { latestVersion } from "../../../src/store/engines/migrations/history.ts";
import { LATER, LATER_VERSION } from "../../helpers/later-version.ts";
import { makeOlderDatabase, readTables } from "../../helpers/older-database.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { mayMount, smallDisk } from "../../helpers/small-disk.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const BACKUP = `reprise.db.version-${latestVersion()}.backup`;
const SETUP = "reprise.db-setup";
const older = { version: latestVersion(), sessions: 3, integrity: "ok" };
/** Each program that opens the store adds a session. */
const upgraded = { ...older, version: LATER_VERSION, sessions: 4 };

describe("a database of the version before", () => {
  it("[UPGRADE-1] [UPGRADE-2] is copied beside itself and upgraded, which is reported once", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    await makeOlderDatabase(path);

    const first = await openLater(path);
    const second = await openLater(path);

    expect(first).toEqual({
      notices: [expect.stringContaining(`${path}.version-${latestVersion()}.backup`)],
      sessions: 4,
    });
    expect(second).toEqual({ notices: [], sessions: 5 });
    expect(filesBeside(path)).toEqual([BACKUP]);
    expect(statSync(join(path, "..", BACKUP)).mode & 0o777).toBe(0o600);
    expect(readTables(join(path, "..", BACKUP))).toEqual(older);
    expect(readTables(path)).toEqual({ ...upgraded, sessions: 5 });
  });

  it("[UPGRADE-3] is upgraded without a copy if none is wanted", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    await makeOlderDatabase(path);

    const { notices } = await openLater(path, "no-backup");

    expect(notices).toEqual([expect.stringContaining("No backup was made.")]);
    expect(filesBeside(path)).toEqual([]);
    expect(readTables(path)).toEqual(upgraded);
  });

  it("[UPGRADE-2] [UPGRADE-9] keeps the copy of an earlier upgrade, and does not take it for its own", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    await makeOlderDatabase(path);
    writeFileSync(join(path, "..", BACKUP), "the copy of an earlier upgrade");

    await openLater(path);

    expect(readFileSync(join(path, "..", BACKUP), "utf8")).toBe("the copy of an earlier upgrade");
    const second = `reprise.db.version-${latestVersion()}.2.backup`;
    expect(filesBeside(path)).toEqual([second, BACKUP].sort());
    expect(readTables(join(path, "..", second))).toEqual(older);
  });

  it("[UPGRADE-5] is copied and upgraded by one of several processes, while the others wait", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    await makeOlderDatabase(path, { ballastBytes: 3_000_000 });

    const runs = await Promise.all(
      Array.from({ length: 5 }, () => startProgram("store-open.ts", [path], LATER).finished),
    );

    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      runs.map(() => ({ code: 0, stderr: "" })),
    );
    expect(filesBeside(path)).toEqual([BACKUP]);
    expect(readTables(join(path, "..", BACKUP))).toEqual(older);
    expect(readTables(path)).toEqual({ ...upgraded, sessions: 8 });
  });

  it.each([
    ["in the middle of the copy", /\.partial$/],
    ["as soon as the copy is whole", /\.backup$/],
  ])("[UPGRADE-6] is usable after a kill %s", async (_, killedAt) => {
    const path = join(temporaryFolder(), "reprise.db");
    await makeOlderDatabase(path, { ballastBytes: 6_000_000 });
    // on a busy machine the kill may come late: what is upgraded then is not written to
    const killed = startProgram("store-open.ts", [path, "5000", "hold"], LATER);
    while (
      !filesBeside(path).some((name) => killedAt.test(name)) &&
      killed.child.exitCode === null
    ) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await killed.stop("SIGKILL");

    const { sessions } = await openLater(path);

    expect(sessions).toBe(4);
    expect(readTables(path)).toEqual(upgraded);
    // killed after the upgrade, it leaves the file of its lock, which only the next upgrade removes
    const copies = filesBeside(path).filter((name) => name !== SETUP);
    expect(copies).toEqual(copies.filter((name) => name.endsWith(".backup")));
    expect(copies).toContain(BACKUP);
    for (const copy of copies) {
      expect(readTables(join(path, "..", copy))).toEqual(older);
    }
  });

  it("[UPGRADE-6] is upgraded beside the lock file of a process that was killed, which is removed", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    await makeOlderDatabase(path);
    writeFileSync(join(path, "..", SETUP), "");

    expect((await openLater(path)).sessions).toBe(4);

    expect(readTables(path)).toEqual(upgraded);
    expect(filesBeside(path)).toEqual([BACKUP]);
  });
});

describe.skipIf(!mayMount())("a disk with little space (needs the right to mount a tmpfs)", () => {
  it("[UPGRADE-4] refuses the upgrade and leaves the file unchanged, unless no copy is wanted", async () => {
    const disk = smallDisk("8m");
    const path = join(disk, "reprise.db");
    await makeOlderDatabase(path, { ballastBytes: 1_000_000 });
    const before = readFileSync(path);
    // enough is left for the upgrade, but not for a copy
    const left = 900_000;
    writeFileSync(join(disk, "ballast"), Buffer.alloc(8 * 1024 * 1024 - before.length - left));

    expect(await openLater(path)).toMatchObject({
      code: "database_full",
      message: expect.stringMatching(/MiB.*Free some space.*--no-backup/),
    });

    expect(readFileSync(path)).toEqual(before);
    expect(filesBeside(path).filter((name) => name !== "ballast")).toEqual([]);
    expect((await openLater(path, "no-backup")).sessions).toBe(4);
  });
});

interface Opened {
  readonly notices: readonly string[];
  /** Of a store that was opened: sessions, one of them new. */
  readonly sessions?: number;
}

/** Opens the file with a program of the later version. */
async function openLater(path: string, then = "create"): Promise<Opened> {
  const program = startProgram("store-open.ts", [path, "5000", then], LATER);
  const { stdout, stderr } = await program.finished;
  expect(stderr).toBe("");
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly notice?: string });
  return {
    notices: lines.flatMap(({ notice }) => notice ?? []),
    ...(lines.at(-1) as Partial<Opened>),
  };
}

/** Everything in the database's folder but the database. */
function filesBeside(path: string): string[] {
  return readdirSync(join(path, ".."))
    .filter((name) => !["reprise.db", "reprise.db-wal", "reprise.db-shm"].includes(name))
    .sort();
}
