import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { fill, makeRoom, mayMount, smallDisk } from "../../helpers/small-disk.ts";

const PAGE = 4096;

describe.skipIf(!mayMount())("a disk that is full (needs the right to mount a tmpfs)", () => {
  it("[STORE-30] refuses what does not fit, serves reads, and accepts writes once there is space", async () => {
    const disk = smallDisk("2m");
    const path = join(disk, "reprise.db");
    const store = await opened(path);
    const { id } = await store.write(createSession, {});
    const append = (content: string) => store.write(appendUserMessage, { reference: id, content });
    await append("before");
    fill(disk);

    const refused = await Promise.allSettled([append("a"), append("b".repeat(20_000))]);

    expect(refused).toMatchObject(
      [1, 2].map(() => ({ status: "rejected", reason: { code: "database_full" } })),
    );
    await expect(store.write(createSession, {})).rejects.toThrow(
      "The disk is full, so nothing was stored; free some space and try again.",
    );
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 1 });
    makeRoom(disk);
    expect((await append("after")).message.seq).toBe(2);
  });

  it("[STORE-30] keeps everything over a restart on the full disk", async () => {
    const disk = smallDisk("2m");
    const path = join(disk, "reprise.db");
    const store = await opened(path);
    const { id } = await store.write(createSession, {});
    for (let index = 0; index < 20; index += 1) {
      await store.write(appendUserMessage, { reference: id, content: "x".repeat(PAGE) });
    }
    fill(disk);
    await store.close();

    const again = await opened(path);

    expect(await again.read(readSession, { id })).toMatchObject({ last_seq: 20 });
    makeRoom(disk);
    await again.write(appendUserMessage, { reference: id, content: "there is room" });
    expect(await again.read(readSession, { id })).toMatchObject({ last_seq: 21 });
  });

  it("[STORE-30] reports that there is no space for a new database, and creates it later", async () => {
    const disk = smallDisk("1m");
    const path = join(disk, "reprise.db");
    fill(disk);

    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: "database_full" });

    makeRoom(disk);
    const store = await opened(path);
    await store.write(createSession, {});
    expect((await store.read(listSessions, { limit: 9 })).sessions).toHaveLength(1);
  });
});

describe("a page that a bad disk changed", () => {
  it("[STORE-36] costs the session whose messages are on it; every other one is read and written", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    const first = await opened(path);
    const damaged = await first.write(createSession, { persona_name: "damaged" });
    const whole = await first.write(createSession, { persona_name: "whole" });
    for (const [{ id }, mark] of [
      [damaged, "D"],
      [whole, "W"],
    ] as const) {
      await first.write(appendUserMessage, { reference: id, content: mark.repeat(8 * PAGE) });
    }
    await first.close();
    const bytes = readFileSync(path);
    writeFileSync(path, withoutPagesOf(bytes, "D"));
    const store = await opened(path);

    const refused = store.read(readDetail, { reference: damaged.id, all: true });

    await expect(refused).rejects.toMatchObject({ code: "database_corrupt" });
    await expect(refused).rejects.toThrow(/damaged.*Keep the file unchanged and restore a backup/);
    const { messages } = await store.read(readDetail, { reference: whole.id, all: true });
    expect(messages.map(({ content }) => content)).toEqual(["W".repeat(8 * PAGE)]);
    expect((await store.read(listSessions, { limit: 9 })).sessions).toHaveLength(2);
    const appended = await store.write(appendUserMessage, { reference: whole.id, content: "on" });
    expect(appended.message.seq).toBe(2);
    await store.close();

    // the disk gives the right bytes again, as after a copy of a good block
    restorePagesOf(path, bytes, "D");
    const restored = await opened(path);
    const detail = await restored.read(readDetail, { reference: damaged.id, all: true });
    expect(detail.messages.map(({ content }) => content)).toEqual(["D".repeat(8 * PAGE)]);
    expect(await restored.read(readSession, { id: whole.id })).toMatchObject({ last_seq: 2 });
  });
});

describe("a lock that another program holds for longer than anybody waits", () => {
  it("[STORE-29] refuses the first write, lets reads and timers continue, and the second write gets in", async () => {
    const busyTimeoutMs = testSize("locked");
    const path = join(temporaryFolder(), "reprise.db");
    const store = await opened(path, busyTimeoutMs);
    const { id } = await store.write(createSession, {});
    const append = (content: string) => store.write(appendUserMessage, { reference: id, content });
    const lock = startProgram("store-lock.ts", [path]);
    await lock.waitFor(/locked/);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    onTestFinished(() => clearInterval(timer));

    await expect(append("too early")).rejects.toMatchObject({ code: "database_locked" });
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 0 });
    expect(turns).toBeGreaterThan(5);
    const second = append("in time");
    await sleep(busyTimeoutMs / 3);
    lock.child.stdin?.write("release\n");

    expect((await second).message.seq).toBe(1);
  });
});

async function opened(path: string, busyTimeoutMs = 5000): Promise<Store> {
  const store = await openSqliteStore({ path, busyTimeoutMs });
  onTestFinished(() => store.close());
  return store;
}

/** The places of the pages that hold nothing but a long text of this letter. */
function pagesOf(bytes: Buffer, letter: string): number[] {
  const pages: number[] = [];
  for (let page = 0; page < bytes.length; page += PAGE) {
    const text = bytes.subarray(page + 100, page + PAGE - 100);
    if (text.every((byte) => byte === letter.charCodeAt(0))) {
      pages.push(page);
    }
  }
  return pages;
}

function withoutPagesOf(bytes: Buffer, letter: string): Buffer {
  const image = Buffer.from(bytes);
  for (const page of pagesOf(bytes, letter)) {
    image.fill(0xa5, page, page + PAGE);
  }
  return image;
}

function restorePagesOf(path: string, good: Buffer, letter: string): void {
  const image = readFileSync(path);
  for (const page of pagesOf(good, letter)) {
    good.copy(image, page, page, page + PAGE);
  }
  writeFileSync(path, image);
}
