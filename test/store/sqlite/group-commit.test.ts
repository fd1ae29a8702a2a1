import { join } from "node:path";

import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

async function openStore(options: { path?: string; busyTimeoutMs?: number } = {}): Promise<Store> {
  const store = await openSqliteStore({ path: join(temporaryFolder(), "reprise.db"), ...options });
  onTestFinished(() => store.close());
  return store;
}

describe("group commit", () => {
  it("commits everything that waits in one transaction", async () => {
    const store = await openStore();
    const commits: number[] = [];
    store.onCommit((ids) => commits.push(ids.size));

    await Promise.all(Array.from({ length: 200 }, () => store.write(createSession, {})));

    expect(commits).toEqual([200]);
  });

  it("commits many writes in groups, so that the first ones get their answer early", async () => {
    const store = await openStore();
    const commits: number[] = [];
    store.onCommit((ids) => commits.push(ids.size));

    await Promise.all(Array.from({ length: 600 }, () => store.write(createSession, {})));

    expect(commits).toEqual([256, 256, 88]);
  });

  it("[STORE-30] runs the group one by one when the database fills up during one of them", async () => {
    const store = await openStore();
    const { id } = await store.write(createSession, {});
    await limitPages(store, 60);
    const append = (content: string) => store.write(appendUserMessage, { reference: id, content });

    const settled = await Promise.allSettled([
      append("before"),
      append("x".repeat(1024 * 1024)),
      append("after"),
    ]);

    expect(settled).toMatchObject([
      { status: "fulfilled", value: { message: { seq: 1, content: "before" } } },
      { status: "rejected", reason: { name: "RepriseError", code: "database_full" } },
      { status: "fulfilled", value: { message: { seq: 2, content: "after" } } },
    ]);
    expect(await store.read(readSession, { id })).toMatchObject({
      last_seq: 2,
      total_input_tokens: 2 + 2,
    });
  });

  it("[STORE-30] refuses writes while the database is full, and accepts them when there is space again", async () => {
    const store = await openStore();
    const { id } = await store.write(createSession, {});
    await limitPages(store, 1);
    const append = (content: string) =>
      store.write(appendUserMessage, { reference: id, content: content.repeat(20_000) });

    const settled = await Promise.allSettled([append("a"), append("b"), append("c")]);

    expect(settled).toMatchObject(
      ["a", "b", "c"].map(() => ({ status: "rejected", reason: { code: "database_full" } })),
    );
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 0, title: null });
    await limitPages(store, 100_000);
    await append("d");
    expect(
      await store.read(readMessagesAfter, { session_id: id, after_seq: 0, all: true, limit: 9 }),
    ).toMatchObject([{ seq: 1, content: "d".repeat(20_000) }]);
  });

  it("reports no session whose commit failed", async () => {
    const store = await openStore();
    const { id } = await store.write(createSession, {});
    await limitPages(store, 1);
    const heard: string[] = [];
    store.onCommit((ids) => heard.push(...ids));

    await expect(
      store.write(appendUserMessage, { reference: id, content: "x".repeat(100_000) }),
    ).rejects.toMatchObject({ code: "database_full" });

    expect(heard).toEqual([]);
  });
});

describe("a lock that another process holds", () => {
  it("[STORE-29] is waited for without blocking this process, then everything is stored together", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    const store = await openStore({ path });
    const lock = startProgram("store-lock.ts", [path]);
    await lock.waitFor(/locked/);
    const commits: number[] = [];
    store.onCommit((ids) => commits.push(ids.size));

    const first = store.write(createSession, {});
    // timers and reads continue while the write waits
    for (let turn = 0; turn < 10; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      await store.mayHaveChanged();
    }
    const second = store.write(createSession, {});
    expect(commits).toEqual([]);
    lock.child.stdin?.write("release\n");

    const made = await Promise.all([first, second]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
    expect(commits).toEqual([2]);
  });

  it("[STORE-29] [STORE-74] is reported when it lasts too long, and the store works again afterwards", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    const store = await openStore({ path, busyTimeoutMs: 50 });
    const { id } = await store.write(createSession, {});
    const lock = startProgram("store-lock.ts", [path]);
    await lock.waitFor(/locked/);

    const refused = await Promise.allSettled(
      ["a", "b"].map((content) => store.write(appendUserMessage, { reference: id, content })),
    );
    expect(refused).toMatchObject(
      ["a", "b"].map(() => ({
        status: "rejected",
        reason: { name: "RepriseError", code: "database_locked" },
      })),
    );
    expect(await store.read(readSession, { id })).toMatchObject({ last_seq: 0 });
    await lock.stop("SIGKILL");

    const { message } = await store.write(appendUserMessage, { reference: id, content: "c" });
    expect(message.seq).toBe(1);
  });

  it("does not keep a store from closing", async () => {
    const path = join(temporaryFolder(), "reprise.db");
    const store = await openStore({ path, busyTimeoutMs: 50 });
    const lock = startProgram("store-lock.ts", [path]);
    await lock.waitFor(/locked/);
    const waiting = store.write(createSession, {});

    const closing = store.close();

    await expect(waiting).rejects.toMatchObject({ code: "database_locked" });
    await closing;
  });
});

/** Makes the database "full" at this many pages: SQLite then fails as it does on a full disk. */
async function limitPages(store: Store, pages: number): Promise<void> {
  await store.write(async (tx) => {
    await sql.raw(`PRAGMA max_page_count = ${pages}`).execute(tx.db);
  }, null);
}
