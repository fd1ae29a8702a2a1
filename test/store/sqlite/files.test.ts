import {
  existsSync,
  linkSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { startProcess } from "../../helpers/process.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

describe("a database whose files are replaced while it is open", () => {
  it.each<[string, (path: string) => void, (path: string) => void]>([
    [
      "moved",
      (path) => renameSync(path, `${path}.away`),
      (path) => renameSync(`${path}.away`, path),
    ],
    [
      "replaced",
      (path) => {
        renameSync(path, `${path}.away`);
        writeFileSync(path, "another file");
      },
      (path) => renameSync(`${path}.away`, path),
    ],
    [
      "parted from its log",
      (path) => renameSync(`${path}-wal`, `${path}-wal.away`),
      (path) => renameSync(`${path}-wal.away`, `${path}-wal`),
    ],
  ])(
    "[STORE-34] accepts no write while it is %s, and continues once it is back",
    async (_, part, join) => {
      const { path, store, id } = await openStore();
      const append = (content: string) =>
        store.write(appendUserMessage, { reference: id, content });
      part(path);

      const refused = Promise.allSettled([append("lost?"), append("lost too?")]);

      expect(await refused).toMatchObject(
        [1, 2].map(() => ({ status: "rejected", reason: { code: "database_unavailable" } })),
      );
      join(path);
      expect((await append("stored")).message.seq).toBe(1);
      await store.close();
      await using again = await openSqliteStore({ path });
      expect(await again.read(readSession, { id })).toMatchObject({ last_seq: 1, title: "stored" });
    },
  );

  it("[STORE-34] accepts no write once it is deleted", async () => {
    const { path, store, id } = await openStore();
    rmSync(path);

    await expect(
      store.write(appendUserMessage, { reference: id, content: "gone?" }),
    ).rejects.toThrow(/moved, deleted or replaced.*nothing was stored/);
  });
});

describe("a database that is opened by a symbolic link", () => {
  it("has its log beside the file itself, so that every name of it leads to the same log", async () => {
    const { path, store, id } = await openStore();
    const folder = temporaryFolder();
    const link = join(folder, "link.db");
    symlinkSync(path, link);
    const linked = await openSqliteStore({ path: link });
    onTestFinished(() => linked.close());

    await linked.write(appendUserMessage, { reference: id, content: "through the link" });

    expect(await store.read(readSession, { id })).toMatchObject({ title: "through the link" });
    expect(readdirSync(folder)).toEqual(["link.db"]);
  });
});

describe("a database with two names", () => {
  it("is opened with a notice, because each name has a separate log", async () => {
    const { path, store } = await openStore();
    await store.close();
    linkSync(path, `${path}.twin`);
    const notices: string[] = [];

    await using _ = await openSqliteStore({ path, notice: (sentence) => notices.push(sentence) });

    expect(notices).toEqual([expect.stringMatching(/second name.*always open it by the same one/)]);
  });
});

describe("a user whose new files everybody may write (umask 000)", () => {
  it("[STORE-24] has a database that only they may read and write", async () => {
    const path = join(temporaryFolder(), "data", "reprise.db");
    const program = fileURLToPath(
      new URL("../../fixtures/programs/store-append-forever.ts", import.meta.url),
    );
    const running = startProcess("/bin/sh", [
      "-c",
      'umask 000; exec "$0" "$@"',
      process.execPath,
      program,
      path,
      "0".repeat(36),
    ]);
    await running.finished;

    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    const files = readdirSync(join(path, ".."));
    expect(files).toContain("reprise.db");
    expect(
      files.filter((file) => (statSync(join(path, "..", file)).mode & 0o777) !== 0o600),
    ).toEqual([]);
  });
});

describe("a log that grew during a long read", () => {
  it("[STORE-35] is 16 MiB at most once the read has ended", async () => {
    const { path, store, id } = await openStore();
    const other = await openSqliteStore({ path });
    onTestFinished(() => other.close());
    const megabyte = { reference: id, content: "x".repeat(1024 * 1024) };

    await other.read(async (tx) => {
      await readSession(tx, { id });
      for (let index = 0; index < 24; index += 1) {
        await store.write(appendUserMessage, megabyte);
      }
    }, null);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(24 * 1024 * 1024);
    for (let index = 0; index < 8; index += 1) {
      await store.write(appendUserMessage, megabyte);
    }

    expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(16 * 1024 * 1024);
  });
});

describe.skipIf(!existsSync("/proc/self/fd"))("descriptors", () => {
  it("are all returned, by stores that are closed and by files that are refused", async () => {
    const folder = temporaryFolder();
    const spoilt = join(folder, "notes.txt");
    writeFileSync(spoilt, "these are my notes\n".repeat(100));

    for (let index = 0; index < 50; index += 1) {
      await using store = await openSqliteStore({ path: join(folder, "reprise.db") });
      await store.write(createSession, {});
      await expect(openSqliteStore({ path: spoilt })).rejects.toMatchObject({
        code: "database_corrupt",
      });
    }

    expect(openFilesBelow(folder)).toEqual([]);
  });
});

/** Only these: others of the process belong to what earlier files of tests left to be closed. */
function openFilesBelow(folder: string): string[] {
  return readdirSync("/proc/self/fd")
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        // the one that lists them
        return "";
      }
    })
    .filter((file) => file.startsWith(folder));
}

async function openStore(): Promise<{ path: string; store: Store; id: string }> {
  const path = join(temporaryFolder(), "reprise.db");
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, {});
  return { path, store, id };
}
