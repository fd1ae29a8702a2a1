import { kill } from "node:process";

import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";

import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { payloadsOf } from "../../../src/store/engines/postgres/notify.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { sessionOfHint } from "../../../src/store/hints.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { createPostgres, type TestPostgres } from "../../helpers/postgres.ts";
import { admin, startEmbedded } from "../../helpers/postgres-server.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { startTestServer } from "../../helpers/server.ts";
import { openStream } from "../../helpers/stream.ts";
import { go, outcomeOf, startExchange } from "../../helpers/lease-processes.ts";
import { everything, leaseIsOver, stopBetweenWrites } from "../../helpers/postgres/stopped-node.ts";

/** Far beyond the life of any test: whatever arrives earlier was not found by looking. */
const NEVER_MS = 3_600_000;

describe("writers on several nodes", () => {
  it("[PG-9] 64 of them in two processes lose nothing and leave no gap", async () => {
    const { database, store, id } = await openBench();
    const other = await store.write(createSession, {});
    const programs = [id, other.id].flatMap((session) =>
      Array.from({ length: 2 }, () =>
        startProgram("store-append.ts", [`${database.url}?pool_size=16`, session, "32"]),
      ),
    );

    const acknowledged = await Promise.all(
      programs.map(async ({ finished }) => {
        const { code, stdout, stderr } = await finished;
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        return stdout.trim().split("\n");
      }),
    );

    for (const [index, session_id] of [id, other.id].entries()) {
      const rows = await store.read(readMessagesAfter, {
        session_id,
        after_seq: 0,
        all: true,
        limit: 1000,
      });
      expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 64 }, (_, at) => at + 1));
      expect(rows.map(({ seq, content }) => `${seq} ${content}`).sort()).toEqual(
        acknowledged
          .slice(index * 2, index * 2 + 2)
          .flat()
          .sort(),
      );
      // in the order of commits, which is the order of the clock while the row is held
      expect(rows.map(({ ts }) => ts)).toEqual(rows.map(({ ts }) => ts).sort());
    }
  });

  it("[PG-9] [PG-25] that repeat one append concurrently store it once", async () => {
    const { database, id } = await openBench();
    const stores = await Promise.all([1, 2, 3].map(() => open(database.url)));

    const appended = await Promise.all(
      stores.flatMap((store) =>
        Array.from({ length: 10 }, () =>
          store.write(appendUserMessage, { reference: id, content: "x", idempotency_key: "k" }),
        ),
      ),
    );

    expect(new Set(appended.map(({ message }) => message.message_id)).size).toBe(1);
  });

  it("[PG-9] [PG-26] that block each other are untangled", async () => {
    const { database, store, id } = await openBench();
    const second = await open(database.url);
    const { id: otherId } = await store.write(createSession, {});
    const lockBoth = (one: Store, [first = "", last = ""]: string[]) =>
      one.write(async (tx) => {
        await appendUserMessage(tx, { reference: first, content: "first" });
        await sql`SELECT pg_sleep(0.2)`.execute(tx.db);
        await appendUserMessage(tx, { reference: last, content: "last" });
      }, null);

    await Promise.all([lockBoth(store, [id, otherId]), lockBoth(second, [otherId, id])]);

    for (const session of [id, otherId]) {
      expect(await store.read(readSession, { id: session })).toMatchObject({ last_seq: 2 });
    }
  });
});

describe("an exchange on several nodes", () => {
  it("[PG-10] is refused while another node holds the session, and a stopped node writes nothing more", async () => {
    const { database, store, id } = await openBench();
    const server = await startModelServer({
      answer: (messages) => ({
        content: messages.at(-1)?.content === "second" ? "short" : "a long answer ".repeat(3000),
      }),
      latencyMs: 20,
    });
    const bench = { server, database: database.url, id };
    const first = await startExchange({ ...bench, options: { text: "first", leaseMs: 4000 } });
    const refused = await startExchange({ ...bench, options: { text: "refused" } });
    go(first);
    await first.waitFor(/(\{"type":"text".*\n){3}/);

    go(refused);
    expect(outcomeOf(await refused.finished)).toMatchObject({
      kind: "refused",
      code: "session_busy",
      message: expect.stringMatching(`process ${first.pid} on`),
    });

    const second = await startExchange({ ...bench, options: { text: "second" } });
    await stopBetweenWrites(first, store);
    await leaseIsOver(store, id);
    go(second);
    expect(outcomeOf(await second.finished)).toMatchObject({ kind: "done", answer: "short" });
    const before = await everything(store);
    first.child.kill("SIGCONT");

    expect(outcomeOf(await first.finished)).toMatchObject({ kind: "refused", code: "lease_lost" });
    expect(await everything(store)).toEqual(before);
    expect((await verifySession(store, id)).findings).toEqual([]);
  });
});

describe("hints between nodes", () => {
  it("[PG-11] [PG-27] give a message to a stream of another node long before its next poll", async () => {
    const { database, store, id } = await openBench();
    await using node = await startTestServer({
      store: await open(database.url),
      stream: { pollMs: NEVER_MS },
    });
    const stream = await openStream(node.url, `/api/sessions/${id}/stream`);
    await listening(store, 1);

    for (let seq = 1; seq <= 5; seq += 1) {
      await store.write(appendUserMessage, { reference: id, content: `${seq}` });
      await stream.received(seq);
    }
    stream.cut();
  });

  it("[PG-11] [PG-28] come back after their connection was lost; only latency is lost with them", async () => {
    const { database, store, id } = await openBench();
    await using node = await startTestServer({
      store: await open(database.url),
      stream: { pollMs: 200 },
    });
    const stream = await openStream(node.url, `/api/sessions/${id}/stream`);
    await listening(store, 1);

    await admin(
      database.server.url,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${database.name}'`,
    );
    await store.write(appendUserMessage, { reference: id, content: "found by looking, or hinted" });

    await stream.received(1);
    await listening(store, 1);
    stream.cut();
  });

  it("[PG-11] can be turned off: polling finds everything", async () => {
    const { database, store, id } = await openBench();
    await using node = await startTestServer({
      store: await open(`${database.url}?hints=off`),
      stream: { pollMs: 20 },
    });
    const stream = await openStream(node.url, `/api/sessions/${id}/stream`);
    expect(await listeners(store)).toBe(0);

    await store.write(appendUserMessage, { reference: id, content: "found" });

    expect(await stream.received(1)).toHaveLength(1);
    stream.cut();
  });

  it("[PG-11] of a node's own commits do not come back to it", async () => {
    const { database, store, id } = await openBench();
    const other = await open(database.url);
    const heard: string[] = [];
    store.onCommit((hints) => heard.push(...[...hints].map(sessionOfHint)));
    const writeOther = async (): Promise<string> => (await other.write(createSession, {})).id;
    const hearsOther = async (): Promise<boolean> => {
      const id = await writeOther();
      for (let waited = 0; !heard.includes(id) && waited < 50; waited += 1) {
        await pause();
      }
      return heard.includes(id);
    };
    while (!(await hearsOther())) {
      // what is written before it listens is never heard
    }
    heard.length = 0;

    await store.write(appendUserMessage, { reference: id, content: "once" });
    const otherId = await writeOther();

    await expect.poll(() => heard).toContain(otherId);
    expect(heard).toEqual([id, otherId]);
  });

  it("[PG-11] fit into what the server accepts, however many sessions were touched", () => {
    const ids = Array.from({ length: 1000 }, () => crypto.randomUUID());

    const payloads = payloadsOf(ids);

    expect(payloads.join(",").split(",")).toEqual(ids);
    expect(Math.max(...payloads.map(({ length }) => length))).toBeLessThan(8000);
    expect(payloads.length).toBeLessThan(6);
    expect(payloadsOf([])).toEqual([]);
  });
});

describe("a server that goes away and comes back", () => {
  it("[PG-5] [PG-6] keeps what was acknowledged, and the store continues", async () => {
    const server = await startEmbedded();
    onTestFinished(() => server.stop());
    const store = await open(server.url);
    const { id } = await store.write(createSession, {});
    await store.write(appendUserMessage, { reference: id, content: "before" });

    await server.restart();
    await store.write(appendUserMessage, { reference: id, content: "after a restart" });

    // a process of the server that dies takes all its connections along
    const { pid } = await store.read(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.db);
      return rows[0] ?? { pid: 0 };
    }, null);
    kill(pid, "SIGKILL");
    await store.write(appendUserMessage, { reference: id, content: "after a crash" });

    const rows = await store.read(readMessagesAfter, {
      session_id: id,
      after_seq: 0,
      all: true,
      limit: 10,
    });
    expect(rows.map(({ content }) => content)).toEqual([
      "before",
      "after a restart",
      "after a crash",
    ]);
  });
});

interface Bench {
  readonly database: TestPostgres;
  readonly store: Store;
  readonly id: string;
}

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

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 10);
  });
}

/** Resolves once so many nodes of this database listen. */
async function listening(store: Store, count: number): Promise<void> {
  while ((await listeners(store)) < count) {
    await pause();
  }
}

async function listeners(store: Store): Promise<number> {
  const { rows } = await store.read(
    (tx) =>
      sql<{ n: number }>`SELECT count(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'`.execute(tx.db),
    null,
  );
  return rows[0]?.n ?? 0;
}
