import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";

import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { PGBOUNCER, startPgbouncer } from "../../helpers/pgbouncer.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { type EmbeddedServer, startEmbedded } from "../../helpers/postgres-server.ts";
import { testSize } from "../../helpers/size.ts";
import { startService } from "../../torture/service.ts";
import { startCuttingProxy } from "../../helpers/postgres/cutting-proxy.ts";

const APPENDS = testSize("pooler");
/** With one connection, whatever any client leaves on it meets every append. */
const POOL_SIZES = APPENDS < 1000 ? [1] : [1, 2, 20];
const WRITERS = 8;

describe.skipIf(PGBOUNCER === undefined)("behind pgbouncer the store", () => {
  it("[PG-16] keeps every acknowledged message when PostgreSQL is stopped at once, in transaction mode", async () => {
    const server = await startServer();
    for (const poolSize of POOL_SIZES) {
      const pooler = await startPgbouncer({
        url: server.url,
        poolMode: "transaction",
        settings: { default_pool_size: String(poolSize) },
      });
      await using service = await startService({ database: pooler });
      const created = await fetch(`${service.url}/api/sessions`, { method: "POST" });
      const { id } = (await created.json()) as { id: string };
      const messages = `${service.url}/api/sessions/${id}/messages`;

      const acknowledged = await appendUntilCrash(messages, server);

      const kept = await contentsOf(server.url, id);
      const lost = [...acknowledged].filter(([seq, content]) => kept.get(seq) !== content);
      console.log(
        `pooler: ${poolSize} connections: ${acknowledged.size} acknowledged, ${lost.length} lost`,
      );
      expect(lost).toEqual([]);
      expect([...kept.keys()]).toEqual([...kept.keys()].map((_, index) => index + 1));
      await untilStored(messages);
    }
  });

  it("[PG-14] leaves no setting on the connections of the pool", async () => {
    await using database = await createPostgres();
    const url = await startPgbouncer({
      url: database.url,
      poolMode: "transaction",
      // everybody gets the same connection
      settings: { default_pool_size: "1" },
    });
    const store = await open(url);
    store.onCommit(() => undefined);
    await store.write(createSession, {});
    // sends the hints that wait
    await store.close();

    expect(await settingsLeft(url)).toEqual([]);
  });

  it.each(["session", "transaction"] as const)(
    "[PG-17] makes the tables, writes and reads in %s mode",
    async (poolMode) => {
      await using database = await createPostgres({ tables: false });
      const store = await open(await startPgbouncer({ url: database.url, poolMode }));

      const { id } = await store.write(createSession, {});

      const { sessions } = await store.read(listSessions, { limit: 9 });
      expect(sessions.map((session) => session.id)).toEqual([id]);
    },
  );

  it("[PG-18] names its missing setting if it refuses those of a connection", async () => {
    await using database = await createPostgres();
    const url = await startPgbouncer({
      url: database.url,
      poolMode: "transaction",
      settings: { ignore_startup_parameters: "extra_float_digits" },
    });

    await expect(openPostgresStore({ url })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("ignore_startup_parameters = statement_timeout"),
    });
  });

  it("[PG-19] learns after a crash whether a COMMIT without an answer was done", async () => {
    const server = await startServer();
    const pooler = await startPgbouncer({ url: server.url, poolMode: "transaction" });
    const proxy = await startCuttingProxy(pooler);
    const store = await open(proxy.url);
    await store.write(createSession, {});
    await server.crash();
    await server.start();

    proxy.cutAt("COMMIT", "before the answer");
    const { id } = await store.write(createSession, {});

    await proxy.cut;
    const { sessions } = await store.read(listSessions, { limit: 9 });
    expect(sessions.filter((session) => session.id === id)).toHaveLength(1);
    expect(sessions).toHaveLength(2);
  });
});

async function startServer(): Promise<EmbeddedServer> {
  // what a weaker commit leaves in memory stays there until the crash
  const server = await startEmbedded({ settings: { fsync: "on", wal_writer_delay: "10s" } });
  onTestFinished(() => server.stop());
  return server;
}

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore({ url });
  onTestFinished(() => store.close());
  return store;
}

/** Appends from several clients until enough is acknowledged, and stops the server amid that. */
async function appendUntilCrash(
  url: string,
  server: EmbeddedServer,
): Promise<ReadonlyMap<number, string>> {
  const acknowledged = new Map<number, string>();
  const enough = Promise.withResolvers<void>();
  const writing = { stopped: false };
  const onStored = (seq: number, content: string): void => {
    acknowledged.set(seq, content);
    if (acknowledged.size === APPENDS) {
      enough.resolve();
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) =>
    append({ url, name: `${writer}`, writing, onStored }),
  );
  await enough.promise;
  await server.crash();
  writing.stopped = true;
  await server.start();
  // the pooler holds back what is sent while the server is away
  await Promise.all(writers);
  return acknowledged;
}

interface Appending {
  readonly url: string;
  readonly name: string;
  readonly writing: { readonly stopped: boolean };
  readonly onStored: (seq: number, content: string) => void;
}

/** Appends message after message until it is stopped; what is not answered with 201 does not count. */
async function append({ url, name, writing, onStored }: Appending): Promise<void> {
  for (let index = 0; !writing.stopped; index += 1) {
    const content = `${name}.${index}`;
    const answer = await post(url, content);
    if (answer.status === 201) {
      const { seq } = (await answer.json()) as { seq: number };
      onStored(seq, content);
    }
  }
}

async function untilStored(url: string): Promise<void> {
  while ((await post(url, "the server is back")).status !== 201) {
    await sleep(50);
  }
}

function post(url: string, content: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content }),
  });
}

/** Read from the server itself, without the pooler. */
async function contentsOf(url: string, id: string): Promise<ReadonlyMap<number, string>> {
  await using store = await openPostgresStore({ url });
  const rows = await store.read(readMessagesAfter, {
    session_id: id,
    after_seq: 0,
    all: true,
    limit: 1_000_000,
  });
  return new Map(rows.map(({ seq, content }) => [seq, content]));
}

/** What another program finds changed on the connection that it is given. */
async function settingsLeft(url: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT name, setting FROM pg_settings WHERE source = 'session' AND name = 'synchronous_commit'",
    );
    return rows;
  } finally {
    await client.end();
  }
}
