import { describe, expect, it } from "vitest";

import type { SessionSummary } from "../../../src/core/schemas/schemas.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";
import { openStream } from "../../helpers/stream.ts";
import { manyUnread, randomMessages, until } from "../../helpers/unread.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** A session with so many messages of 400 KB. */
const longSession = (t: TestServer, messages: number) =>
  randomMessages(t, { messages, bytes: 300_000 });

/** A plan that takes some milliseconds. */
const plan = {
  runId: "0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01",
  phases: Array.from({ length: 100 }, (_, index) => ({ key: `p${index}`, depends_on: ["none"] })),
};

/** Asks for what is small, on new connections, while others wait for their turn. */
async function expectSmallAnswers(t: TestServer, id: string): Promise<void> {
  const { unsent } = t.server.app;
  await until(() => unsent.waiting > 20);
  for (const path of ["/livez", "/api/sessions?limit=5", `/api/sessions/${id}/messages?limit=5`]) {
    const { status } = await t.call("GET", path, { headers: { connection: "close" } });
    expect([status, unsent.waiting > 0], path).toEqual([200, true]);
  }
}

describe("requests for small answers", () => {
  it("[HTTP-248] do not wait for those whose answers are large", async () => {
    await using t = await startTestServer();
    const [long, short] = [await longSession(t, 8), await t.newSession()];
    await t.post(short, "words");
    using _ = await manyUnread(t, 150, { path: `/api/sessions/${long}/messages` });
    await expectSmallAnswers(t, short);
  });

  it("[PLAN-78] do not wait for plans that are checked", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    const body = { text: JSON.stringify(plan) };
    const checks = ["plan", "validate"].flatMap((name) =>
      Array.from({ length: 30 }, () => t.call("POST", `/api/artifacts/${name}`, { body })),
    );
    await expectSmallAnswers(t, id);
    const statuses = (await Promise.all(checks)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it("[HTTP-243] do not wait for all that others have pipelined", async () => {
    await using counting = await readsAtOnce();
    await using t = await startTestServer({ store: counting.store });
    const answered = (): number => t.log.filter(({ route }) => route === "/api/sessions").length;
    using _ = await manyUnread(t, 20, { path: "/api/sessions?limit=1", times: 50 });
    await until(() => answered() > 20);
    const before = answered();
    const { status } = await t.call("GET", "/livez", { headers: { connection: "close" } });
    expect(status).toBe(200);
    expect(answered() - before).toBeLessThan(100);
    await until(() => answered() === 1000);
    // one of each connection
    expect(counting.most()).toBeLessThan(30);
  });
});

/** A store that counts how many reads are begun and not over. */
async function readsAtOnce() {
  const database = await createDatabase();
  const opened = await openStoreAt(database.location);
  let [now, most] = [0, 0];
  const read: Store["read"] = async (operation, input) => {
    now += 1;
    most = Math.max(most, now);
    try {
      return await opened.read(operation, input);
    } finally {
      now -= 1;
    }
  };
  return {
    most: () => most,
    store: { ...opened, read },
    [Symbol.asyncDispose]: async () => {
      await opened.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A store that counts what was held when each large page was read. */
async function countingStore(held: () => number) {
  const database = await createDatabase();
  const opened = await openStoreAt(database.location);
  const reads: { readonly max_bytes: number; readonly held: number }[] = [];
  const read: Store["read"] = (operation, input) => {
    if (typeof input === "object" && input !== null && "max_bytes" in input) {
      const max_bytes = Number(input.max_bytes);
      if (max_bytes > 64 * KIB) {
        reads.push({ max_bytes, held: held() });
      }
    }
    return opened.read(operation, input);
  };
  return {
    reads,
    store: { ...opened, read },
    [Symbol.asyncDispose]: async () => {
      await opened.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

describe("large answers", () => {
  it("[HTTP-240] are not read before their bytes have a place", async () => {
    let t: TestServer | undefined;
    await using counting = await countingStore(() => t?.server.app.unsent.bytes ?? 0);
    await using server = await startTestServer({
      store: counting.store,
      unsent: { maxBytes: 4 * MIB },
    });
    t = server;
    const id = await longSession(server, 8);
    for (const path of [`/api/sessions/${id}`, `/api/sessions/${id}/messages`]) {
      using _ = await manyUnread(server, 20, { path, times: 20 });
      await until(() => server.server.app.unsent.bytes > 3 * MIB);
    }
    expect(counting.reads.length).toBeGreaterThan(10);
    expect(counting.reads.filter(({ held, max_bytes }) => held < max_bytes)).toEqual([]);
    expect(counting.reads.filter(({ held }) => held > 4 * MIB)).toEqual([]);
  });

  it("[HTTP-240] of the list have fewer sessions while much of the budget is taken, and lead to the rest", async () => {
    await using t = await startTestServer({ unsent: { maxBytes: MIB } });
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`key${index}`, "x".repeat(512)]),
    );
    for (let index = 0; index < 60; index += 1) {
      await t.store.write(createSession, { metadata });
    }
    const ids: string[] = [];
    const pages: number[] = [];
    for (let path = "/api/sessions?limit=50"; path !== "";) {
      const { json, headers } = await t.call<SessionSummary[]>("GET", path);
      pages.push(json.length);
      ids.push(...json.map(({ id }) => id));
      path = /<([^>]+)>/.exec(headers.get("link") ?? "")?.[1] ?? "";
    }
    expect(new Set(ids).size).toBe(60);
    expect(ids).toHaveLength(60);
    expect(Math.max(...pages)).toBeLessThan(40);
  });

  it("[HTTP-82] are compressed while at most eight others are, and small ones always", async () => {
    await using t = await startTestServer();
    // the system takes a few of these answers, and each has a turn with a pause after it
    const id = await randomMessages(t, { messages: 4, bytes: 700_000 });
    const path = `/api/sessions/${id}/messages`;
    const headers = "Accept-Encoding: br\r\n";
    const unread = { path, headers, times: 100 };
    using clients = new DisposableStack();
    clients.use(await manyUnread(t, 12, unread));
    const { app } = t.server;
    const encodingOf = async (target: string): Promise<string | null> => {
      const answer = await t.call("GET", target, { headers: { "accept-encoding": "br" } });
      expect(app.compressed).toBeLessThanOrEqual(8);
      return answer.headers.get("content-encoding");
    };
    // some clients stop at an answer that is not compressed: others take the places that are left
    while ((await encodingOf(path)) !== null) {
      clients.use(await manyUnread(t, 1, unread));
    }
    const small = await t.newSession();
    await t.post(small, "words ".repeat(1000));
    expect(await encodingOf(`/api/sessions/${small}`)).toBe("br");
  });
});

describe("streams that catch up", () => {
  it("[HTTP-240] [HTTP-33] hold their pages within the budget, and each of those that read gets all", async () => {
    await using t = await startTestServer({
      unsent: { maxBytes: 4 * MIB },
      // on a busy machine the one that reads may take seconds for its next piece
      stream: { stallMs: 4000 },
    });
    const id = await t.newSession();
    for (let index = 0; index < 12; index += 1) {
      await t.post(id, "x".repeat(1_000_000));
    }
    const { unsent } = t.server.app;
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, unsent.bytes);
    }, 1);
    for (const path of ["stream?last_seq=0", "live?after_seq=0"]) {
      using _ = await manyUnread(t, 20, { path: `/api/sessions/${id}/${path}` });
      await until(() => unsent.bytes > 2 * MIB);
      const reader = await openStream(t.url, `/api/sessions/${id}/stream?last_seq=0`);
      expect((await reader.received(12)).map(({ seq }) => seq)).toEqual(
        Array.from({ length: 12 }, (_, index) => index + 1),
      );
      reader.cut();
    }
    clearInterval(watching);
    expect(most).toBeLessThanOrEqual(4 * MIB);
    await until(() => unsent.bytes === 0);
  });

  it("[HTTP-79] are cut one after the other if many take nothing", async () => {
    await using t = await startTestServer({ stream: { stallMs: 500 } });
    const id = await longSession(t, 40);
    const cuts: number[] = [];
    let turn = 0;
    t.server.app.fastify.server.on("request", (_request, response) => {
      response.once("close", () => {
        cuts.push(turn);
        // the next turn of the event loop
        setImmediate(() => (turn += 1));
      });
    });
    using _ = await manyUnread(t, 20, { path: `/api/sessions/${id}/stream` });
    await until(() => cuts.length === 20);
    expect(new Set(cuts).size).toBe(20);
  });
});
