import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { type Client, createClient } from "../../src/client/client.ts";
import { startProgram } from "../helpers/start-program.ts";
import { freshHome } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { startService } from "./service.ts";

/** A separate file system, so that its disk can be full; only root may make one. */
function mountSmallDisk(megabytes: number): string | null {
  const folder = temporaryFolder();
  const { status } = spawnSync("mount", [
    "-t",
    "tmpfs",
    "-o",
    `size=${megabytes}m`,
    "none",
    folder,
  ]);
  if (status !== 0) {
    return null;
  }
  // done before the folder itself is removed: the last registered is the first called
  onTestFinished(() => {
    spawnSync("umount", [folder]);
  });
  return folder;
}

const isRoot = process.getuid?.() === 0;
const canMount = isRoot && existsSync("/proc/self/mounts");

/** Posts until the service refuses. Returns what it acknowledged, in order, and the refusal. */
async function postUntilRefused(
  client: Client,
  id: string,
): Promise<{ readonly stored: readonly string[]; readonly refusal: unknown }> {
  const stored: string[] = [];
  for (;;) {
    const content = `${stored.length} ${"words ".repeat(10_000)}`;
    try {
      await client.postMessage(id, content);
      stored.push(content);
    } catch (refusal) {
      return { stored, refusal };
    }
  }
}

it.skipIf(!canMount)(
  "[HTTP-27] a full disk refuses what does not fit and loses nothing; the service works again later",
  async ({ skip }) => {
    const disk = mountSmallDisk(6);
    if (disk === null) {
      skip("this system lets nobody mount a disk");
      return;
    }
    const filler = join(disk, "filler");
    writeFileSync(filler, Buffer.alloc(3 * 1024 * 1024));
    const folder = join(disk, "data");
    mkdirSync(folder, { mode: 0o700 });
    await using service = await startService({ database: join(folder, "reprise.db") });
    const client = createClient({ baseUrl: service.url });
    const { id } = await client.createSession();
    const { stored, refusal } = await postUntilRefused(client, id);
    expect(stored.length).toBeGreaterThan(0);
    expect(refusal).toMatchObject({ code: "database_full", status: 503 });
    // what was stored is still read, and still there
    expect((await client.getSession(id)).messages.map(({ content }) => content)).toEqual(stored);
    await expect(client.postMessage(id, "words ".repeat(10_000))).rejects.toMatchObject({
      status: 503,
    });
    rmSync(filler);
    await client.postMessage(id, "there is room again");
    await client.endSession(id);
    const { messages, last_seq } = await client.getSession(id);
    expect(messages.map(({ content }) => content)).toEqual([...stored, "there is room again"]);
    expect(last_seq).toBe(stored.length + 1);
  },
);

it("[HTTP-27] [HTTP-34] a database that another program keeps locked refuses only writes, until it is released", async () => {
  const database = join(temporaryFolder(), "reprise.db");
  await using service = await startService({ database });
  const client = createClient({ baseUrl: service.url });
  const { id } = await client.createSession();
  await client.postMessage(id, "before");
  const lock = startProgram("store-lock.ts", [database]);
  await lock.waitFor(/locked\n/);
  const writes = ["one", "two", "three"].map((content) => client.postMessage(id, content));
  const refused = Promise.allSettled(writes);
  // reading continues all the while
  let reads = 0;
  const settled = refused.then(() => true);
  while (!(await Promise.race([settled, client.getSession(id).then(() => false)]))) {
    reads += 1;
  }
  expect(reads).toBeGreaterThan(10);
  for (const result of await refused) {
    expect(result).toMatchObject({
      status: "rejected",
      reason: { code: "database_locked", status: 503 },
    });
  }
  // one that waits is stored as soon as it can be
  const waiting = client.postMessage(id, "waited");
  lock.child.stdin?.write("\n");
  expect(await waiting).toMatchObject({ seq: 2 });
  const { messages } = await client.getSession(id);
  expect(messages.map(({ content }) => content)).toEqual(["before", "waited"]);
});

it("[HTTP-27] [HTTP-57] a damaged message is reported in one sentence and in the log, and affects no other", async () => {
  const folder = temporaryFolder();
  const database = join(folder, "reprise.db");
  const ids: string[] = [];
  {
    await using service = await startService({ database });
    const client = createClient({ baseUrl: service.url });
    for (const name of ["first", "second"]) {
      const { id } = await client.createSession();
      ids.push(id);
      for (let index = 0; index < 60; index += 1) {
        await client.postMessage(id, `${name} ${index} ${"secret ".repeat(60)}`);
      }
    }
  }
  damagePageWith(database, "first 30 secret");
  await using service = await startService({ database });
  const client = createClient({ baseUrl: service.url });
  const [damaged = "", sound = ""] = ids;
  for (const path of ["", "/stream"]) {
    const answer = await fetch(`${service.url}/api/sessions/${damaged}${path}`);
    const body = await answer.text().catch(() => "");
    expect(body).not.toContain("first 30");
    if (answer.status !== 200) {
      expect(JSON.parse(body)).toMatchObject({ code: "database_corrupt", status: 503 });
      expect(answer.headers.get("retry-after")).not.toBeNull();
    }
  }
  await expect(client.getSession(damaged)).rejects.toMatchObject({ code: "database_corrupt" });
  // what is on intact pages is read, of this session too
  const before = await client.getSession(damaged, { before_seq: 5 });
  expect(before.messages).toHaveLength(4);
  expect((await client.getSession(sound)).messages).toHaveLength(60);
  expect((await client.listSessions()).sessions).toHaveLength(2);
  await client.postMessage(sound, "and goes on");
  await service.stop();
  const failures = service
    .log()
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(failures.length).toBeGreaterThan(0);
  expect(failures[0]).toMatchObject({ event: "failure", code: "database_corrupt" });
  expect(service.log()).not.toContain("secret");
});

it.skipIf(!isRoot)(
  "[HTTP-27] [STORE-28] a read-only database is refused at the start, in one sentence",
  async () => {
    const home = freshHome();
    const { id } = await home
      .json<{ session_id: string }>(["-p", "hello", "--json"])
      .then(({ session_id }) => ({ id: session_id }));
    const folder = temporaryFolder();
    const copy = join(folder, "reprise.db");
    writeFileSync(copy, readFileSync(home.database), { mode: 0o644 });
    chmodSync(folder, 0o755);
    const nobody = 65_534;
    const own = temporaryFolder();
    chownSync(own, nobody, nobody);
    const start = startService({ database: copy, uid: nobody, home: own });
    await expect(start).rejects.toThrow(/^reprise: [^\n]+ \[database_readonly\]\n$/);
    // nothing was changed: the owner continues with it
    await using service = await startService({ database: copy });
    const client = createClient({ baseUrl: service.url });
    expect((await client.getSession(id)).messages[0]).toMatchObject({ content: "hello" });
  },
);

/** Overwrites the head of the page that holds the text, as a failing disk would. */
function damagePageWith(database: string, text: string): void {
  const bytes = readFileSync(database);
  const offset = bytes.indexOf(text);
  expect(offset, "the text is in the file").toBeGreaterThan(0);
  const pageSize = bytes.readUInt16BE(16);
  const page = Math.floor(offset / pageSize) * pageSize;
  const file = openSync(database, "r+");
  writeSync(file, Buffer.alloc(16, 0xff), 0, 16, page);
  closeSync(file);
}
