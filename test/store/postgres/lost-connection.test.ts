import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { sessionOfHint } from "../../../src/store/hints.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store, Tx } from "../../../src/store/store.ts";
import { createPostgres, type TestPostgres } from "../../helpers/postgres.ts";
import { admin } from "../../helpers/postgres-server.ts";
import { type Cut, startCuttingProxy } from "../../helpers/postgres/cutting-proxy.ts";

/** The whole statement: BEGIN names a level that begins like it. */
const COMMIT = "COMMIT\0";

interface Bench {
  readonly database: TestPostgres;
  readonly store: Store;
  readonly id: string;
}

describe("a connection that the server ends", () => {
  it("[PG-5] costs nothing while nobody uses it", async () => {
    const bench = await openBench();
    await terminateAll(bench);

    await append(bench.store, bench.id, "after it");

    expect(await contents(bench)).toEqual(["after it"]);
  });

  it("[PG-5] in the middle of a write, is replaced and the write runs once", async () => {
    const bench = await openBench();
    let attempts = 0;

    await bench.store.write(async (tx) => {
      attempts += 1;
      await appendUserMessage(tx, { reference: bench.id, content: "once" });
      if (attempts === 1) {
        await terminateThis(bench, tx);
      }
      await readSession(tx, { id: bench.id });
    }, null);

    expect(attempts).toBe(2);
    expect(await contents(bench)).toEqual(["once"]);
  });

  it("[PG-5] after the last statement of a write, is replaced and the write runs once", async () => {
    const bench = await openBench();
    let attempts = 0;

    await bench.store.write(async (tx) => {
      attempts += 1;
      await appendUserMessage(tx, { reference: bench.id, content: "once" });
      if (attempts === 1) {
        await terminateThis(bench, tx);
      }
    }, null);

    expect(attempts).toBe(2);
    expect(await contents(bench)).toEqual(["once"]);
  });

  it("[PG-5] in the middle of a read, is replaced and the read runs again", async () => {
    const bench = await openBench();
    let attempts = 0;

    const { id } = await bench.store.read(async (tx) => {
      attempts += 1;
      await readSession(tx, { id: bench.id });
      if (attempts === 1) {
        await terminateThis(bench, tx);
      }
      return readSession(tx, { id: bench.id });
    }, null);

    expect({ id, attempts }).toEqual({ id: bench.id, attempts: 2 });
  });

  it("[PG-5] [PG-22] repeatedly, is reported, and nothing is stored", async () => {
    const bench = await openBench();

    await expect(
      bench.store.write(async (tx) => {
        await appendUserMessage(tx, { reference: bench.id, content: "never" });
        await terminateThis(bench, tx);
        await readSession(tx, { id: bench.id });
      }, null),
    ).rejects.toMatchObject({
      code: "database_unavailable",
      message: expect.stringMatching(/was lost, so nothing was stored/),
    });

    expect(await contents(bench)).toEqual([]);
    await append(bench.store, bench.id, "afterwards");
    expect(await contents(bench)).toEqual(["afterwards"]);
  });
});

describe("a connection that the network loses", () => {
  const cuts: readonly { words: string; cut: Cut }[] = [
    { words: "BEGIN ISOLATION", cut: "before the server sees it" },
    { words: "BEGIN ISOLATION", cut: "before the answer" },
    { words: "insert into", cut: "before the server sees it" },
    { words: "insert into", cut: "before the server sees it, unnoticed" },
    { words: "insert into", cut: "before the answer" },
    { words: COMMIT, cut: "before the server sees it" },
    { words: COMMIT, cut: "before the server sees it, unnoticed" },
    { words: COMMIT, cut: "before the answer" },
  ];

  it.each(cuts)(
    "[PG-5] [PG-6] at $words, $cut, leaves the message once and acknowledged",
    async ({ words, cut }) => {
      const { store: direct, database, id } = await openBench();
      const proxy = await startCuttingProxy(database.url);
      // the hint that the session was created may still be on its way
      const store = await open(`${proxy.url}?hints=off`);
      const heard: string[] = [];
      store.onCommit((hints) => heard.push(...[...hints].map(sessionOfHint)));
      proxy.cutAt(words, cut);

      await append(store, id, "once");

      await proxy.cut;
      expect(await contents({ store: direct, id })).toEqual(["once"]);
      expect(heard).toEqual([id]);
      expect(await direct.read(readSession, { id })).toMatchObject({ last_seq: 1 });
    },
  );

  it.each(["before the server sees it", "before the answer"] as const)(
    "[PG-5] while it is being opened, %s, is replaced, and the process survives",
    async (cut) => {
      const { store: direct, database, id } = await openBench();
      const proxy = await startCuttingProxy(database.url);
      const store = await open(`${proxy.url}?hints=off`);
      proxy.cutAt("server_version_num", cut);

      // more at once than there are connections
      await Promise.all(["one", "two", "three"].map((content) => append(store, id, content)));

      await proxy.cut;
      expect((await contents({ store: direct, id })).toSorted()).toEqual(["one", "three", "two"]);
    },
  );

  it("[PG-6] [PG-23] at COMMIT, with nobody left to ask, is reported as unknown", async () => {
    const { store: direct, database, id } = await openBench();
    const proxy = await startCuttingProxy(database.url);
    const store = await open(proxy.url);
    proxy.cutAt(COMMIT, "before the answer");
    void proxy.cut.then(proxy.refuseAll);

    await expect(append(store, id, "who knows")).rejects.toMatchObject({
      code: "database_unavailable",
      message: expect.stringMatching(/may or may not be stored\. Check before you try again/),
    });
    expect(await contents({ store: direct, id })).toEqual(["who knows"]);
  });

  it("[PG-5] with no server left, is reported and nothing is stored", async () => {
    const { store: direct, database, id } = await openBench();
    const proxy = await startCuttingProxy(database.url);
    const store = await open(proxy.url);
    proxy.refuseAll();

    await expect(append(store, id, "never")).rejects.toMatchObject({
      code: "database_unavailable",
      message: expect.not.stringContaining(new URL(database.url).password),
    });
    await expect(store.read(readSession, { id })).rejects.toMatchObject({
      code: "database_unavailable",
    });
    expect(await contents({ store: direct, id })).toEqual([]);
  });
});

async function openBench(): Promise<Bench> {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const store = await open(database.url);
  const { id } = await store.write(createSession, {});
  return { database, store, id };
}

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore({ url });
  onTestFinished(() => store.close());
  return store;
}

async function append(store: Store, reference: string, content: string): Promise<void> {
  await store.write(appendUserMessage, { reference, content });
}

async function contents({ store, id }: Pick<Bench, "store" | "id">): Promise<string[]> {
  const rows = await store.read(readMessagesAfter, {
    session_id: id,
    after_seq: 0,
    all: true,
    limit: 10,
  });
  return rows.map(({ content }) => content);
}

async function terminateThis({ database }: Bench, tx: Tx): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.db);
  await admin(database.server.url, `SELECT pg_terminate_backend(${rows[0]!.pid}, 5000)`);
}

async function terminateAll({ database }: Bench): Promise<void> {
  await admin(
    database.server.url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${database.name}'`,
  );
}
