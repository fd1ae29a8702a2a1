import { rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { admin } from "../helpers/postgres-server.ts";
import { startProgram } from "../helpers/start-program.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { fill, makeRoom, mayMount, smallDisk } from "../helpers/small-disk.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const onPostgres = process.env["REPRISE_TEST_ENGINE"] === "postgres";

describe("the readiness of the service", () => {
  it("[HTTP-42] [HTTP-107] is decided by a write to the store, and many requests cause few writes", async () => {
    await using inner = await startTestServer();
    let writes = 0;
    await using t = await startTestServer({
      store: counting(inner.store, () => (writes += 1)),
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => t.call("GET", "/readyz")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // one for each second that this took, however many asked
    expect(writes).toBeGreaterThan(0);
    expect(writes).toBeLessThan(20);
  });

  it("[HTTP-42] leaves nothing in the database", async () => {
    await using t = await startTestServer();
    expect((await t.call("GET", "/readyz")).status).toBe(200);
    const left = await t.store.read(
      (tx) => tx.db.selectFrom("readiness_probes").selectAll().execute(),
      null,
    );
    expect(left).toEqual([]);
  });

  it("[HTTP-42] [HTTP-107] does not wait for a store that never answers, and asks it only once", async () => {
    await using inner = await startTestServer();
    const never = Promise.withResolvers<never>();
    let writes = 0;
    const store: Store = {
      ...inner.store,
      write: () => {
        writes += 1;
        return never.promise;
      },
    };
    await using t = await startTestServer({ store });
    for (let index = 0; index < 3; index += 1) {
      expectNotReady(await t.call("GET", "/readyz"));
    }
    expect(writes).toBe(1);
    expect((await t.call("GET", "/livez")).status).toBe(200);
    expect(eventsOf(t)).toEqual(["not_ready"]);
    const notReady = t.log.find(({ event }) => event === "not_ready");
    expect(notReady).toMatchObject({ reason: expect.stringContaining("not answered") });
  });

  it("[HTTP-42] [HTTP-108] ends once the service is to stop; everything else continues", async () => {
    await using t = await startTestServer();
    expect((await t.call("GET", "/readyz")).status).toBe(200);
    t.server.retire();
    const refused = await t.call("GET", "/readyz");
    expect(refused).toMatchObject({ status: 503, json: { code: "shutting_down" } });
    expect((await t.call("GET", "/livez")).status).toBe(200);
    expect((await t.call("POST", "/api/sessions")).status).toBe(201);
    // a service that was asked to stop has not failed
    expect(eventsOf(t)).toEqual([]);
  });
});

describe.skipIf(onPostgres)("a SQLite file that cannot be written", () => {
  it("[HTTP-42] [HTTP-115] while another program keeps its lock, makes the node not ready; it is logged once", async () => {
    const path = `${temporaryFolder()}/reprise.db`;
    await using store = await openSqliteStore({ path, busyTimeoutMs: 50 });
    let probes = 0;
    const counted: Store = {
      ...store,
      write: (operation, input) => {
        probes += 1;
        return store.write(operation, input);
      },
    };
    await using t = await startTestServer({ store: counted });
    expect((await t.call("GET", "/readyz")).status).toBe(200);
    const lock = startProgram("store-lock.ts", [path]);
    await lock.waitFor(/locked/);

    expectNotReady(await until(t, 503));
    for (const before = probes; probes === before;) {
      expectNotReady(await t.call("GET", "/readyz"));
      await sleep(20);
    }
    lock.child.stdin?.write("release\n");

    await until(t, 200);
    expect(eventsOf(t)).toEqual(["not_ready", "ready"]);
    expect(t.log.find(({ event }) => event === "not_ready")).toEqual({
      level: "error",
      event: "not_ready",
      code: "database_locked",
      reason: expect.stringMatching(/lock.*\.$/),
      cause: "ERR_SQLITE_ERROR",
    });
  });

  it("[HTTP-42] because it was moved away, makes the node not ready", async () => {
    const path = `${temporaryFolder()}/reprise.db`;
    await using store = await openSqliteStore({ path });
    await using t = await startTestServer({ store });
    await rename(path, `${path}.away`);
    expectNotReady(await until(t, 503));
    await rename(`${path}.away`, path);
    await until(t, 200);
  });

  it.skipIf(!mayMount())(
    "[HTTP-42] because its disk is full, makes the node not ready",
    async () => {
      const disk = smallDisk("2m");
      await using store = await openSqliteStore({ path: `${disk}/reprise.db` });
      await using t = await startTestServer({ store });
      expect((await t.call("GET", "/readyz")).status).toBe(200);
      fill(disk);
      expectNotReady(await until(t, 503));
      makeRoom(disk);
      await until(t, 200);
    },
  );
});

describe.skipIf(onPostgres || !mayMount())("a disk that accepts no message any more", () => {
  it("[HTTP-59] makes the node not ready, with the first probe, although a small write may still fit", async () => {
    const disk = smallDisk("3m");
    await using store = await openSqliteStore({ path: `${disk}/reprise.db` });
    await using t = await startTestServer({ store });
    const id = await t.newSession();
    const append = () =>
      t.call("POST", `/api/sessions/${id}/messages`, { body: { content: "m".repeat(60_000) } });
    let answer = await append();
    while (answer.status === 201) {
      answer = await append();
    }
    expect(answer).toMatchObject({ status: 503, json: { code: "database_full" } });

    // the first probe finds it, not one that took the last of the space
    expectNotReady(await t.call("GET", "/readyz"));
  });
});

describe.skipIf(!onPostgres)("a PostgreSQL database that cannot be written", () => {
  it("[HTTP-42] because it is read-only or unreachable, makes the node not ready", async () => {
    await using database = await createPostgres();
    const ask = (sql: string) => admin(database.server.url, sql);
    const dropConnections = () =>
      ask(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}'`,
      );
    const { openPostgresStore } = await import("../../src/store/engines/postgres/open.ts");
    await using store = await openPostgresStore({ url: database.url });
    await using t = await startTestServer({ store });
    expect((await t.call("GET", "/readyz")).status).toBe(200);

    await ask(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
    await dropConnections();
    expectNotReady(await until(t, 503));
    expect((await t.call("GET", "/api/sessions")).status).toBe(200);
    await ask(`ALTER DATABASE ${database.name} RESET default_transaction_read_only`);
    await dropConnections();
    await until(t, 200);

    await ask(`ALTER DATABASE ${database.name} ALLOW_CONNECTIONS false`);
    await dropConnections();
    expectNotReady(await until(t, 503));
    await ask(`ALTER DATABASE ${database.name} ALLOW_CONNECTIONS true`);
    await until(t, 200);
    expect(eventsOf(t)).toEqual(["not_ready", "ready", "not_ready", "ready"]);
  });
});

/** Asks again and again until the answer is this one: a result is kept for a second. */
async function until(t: TestServer, status: number) {
  for (;;) {
    const answer = await t.call<{ code?: string; detail?: string }>("GET", "/readyz");
    if (answer.status === status) {
      return answer;
    }
    await sleep(50);
  }
}

function expectNotReady(answer: Awaited<ReturnType<TestServer["call"]>>): void {
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("5");
  // the same words for every reason
  expect(answer.json).toEqual({
    type: "about:blank",
    title: "Service Unavailable",
    status: 503,
    code: "database_unavailable",
    detail: "The service cannot store anything now. Try again.",
  });
}

function eventsOf(t: TestServer): unknown[] {
  return t.log.map(({ event }) => event).filter((event) => event !== "request");
}

function counting(store: Store, onWrite: () => void): Store {
  onTestFinished(() => store.close());
  return {
    ...store,
    write: (operation, input) => {
      onWrite();
      return store.write(operation, input);
    },
  };
}
