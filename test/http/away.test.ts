import { renameSync } from "node:fs";

import { describe, expect, it, onTestFinished } from "vitest";

import { releaseLease } from "../../src/store/records/leases/lease.ts";
import type { Store } from "../../src/store/store.ts";
import { openEvents as openSessionEvents } from "../helpers/session-events.ts";
import { openLive } from "../helpers/live-reader.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { startCuttingProxy } from "../helpers/postgres/cutting-proxy.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { openStream } from "../helpers/stream.ts";
import { createStrictReader } from "../helpers/strict-live-reader.ts";
import { openEvents } from "../helpers/wire-events.ts";
import { begin, storeAnswer } from "./live/running-exchange.ts";

const token = "0123456789abcdef0123456789abcdef";
const headers = { authorization: `Bearer ${token}` };
const HEARTBEAT_MS = 200;

/** All three kinds of streams, each with a reader that has what there is. */
async function openAll(t: TestServer, id: string) {
  const stream = await openStream(t.url, `/api/sessions/${id}/stream`, headers);
  const live = await openLive(t.url, id, { query: "?after_seq=0", headers });
  const events = await openSessionEvents(t.url, { token });
  await stream.received(1);
  await live.first(({ event, data }) => event === "message" && data.seq === 1);
  await events.until(({ event }) => event === "reset");
  return { stream, live, events };
}

/** Paths of all three kinds. */
const pathsOf = (id: string) => [
  `/api/sessions/${id}/stream`,
  `/api/sessions/${id}/live`,
  "/api/events",
];

async function exchangeOf(store: Store, id: string, text: string): Promise<void> {
  const fence = await begin(store, id, text);
  await storeAnswer(store, fence, `answer to ${text}`, `You said ${text}`);
  await store.write(releaseLease, { fence, finished: true });
}

describe("a database that goes away and comes back", () => {
  it("[PG-12] leaves the streams of messages, of the live feed and of all sessions open, and each gets what it missed once", async () => {
    const database = await createPostgres();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const proxy = await startCuttingProxy(database.url);
    const store = await openStoreAt(proxy.url);
    onTestFinished(() => store.close());
    const elsewhere = await openStoreAt(database.url);
    onTestFinished(() => elsewhere.close());
    const stream = { pollMs: 50, livePollMs: 50, heartbeatMs: HEARTBEAT_MS };
    await using t = await startTestServer({ store, token, stream });
    const id = await t.newSession();
    await t.post(id, "first");
    const all = await openAll(t, id);
    const beats = await openEvents(
      new URL(`/api/sessions/${id}/stream?last_seq=1`, t.url),
      headers,
    );

    for (const round of [1, 2]) {
      const awaySince = performance.now();
      proxy.refuseAll();
      await exchangeOf(elsewhere, id, `round ${round}`);
      const refused = await Promise.all(
        pathsOf(id).map((path) => t.call<{ code: string }>("GET", path, { headers })),
      );
      expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
      expect(new Set(refused.map(({ json }) => json.code))).toEqual(
        new Set(["database_unavailable"]),
      );
      // the streams are open: a comment comes that was not there
      const before = beats.text().length;
      await expect.poll(() => beats.text().slice(before)).toMatch(/^:\n\n/m);

      proxy.open();
      const backSince = performance.now();
      await all.stream.received(1 + 2 * round);
      await all.live.first(({ event, data }) => event === "message" && data.seq === 1 + 2 * round);
      await all.events.until(
        ({ event, data }) => event === "exchange" && data.n === round && data.state === "done",
      );
      // a read that was repeated while the database was away does not count as a long one
      expect(performance.now() - backSince).toBeLessThan(5000 + 5 * (backSince - awaySince));
    }
    await t.call("PATCH", `/api/sessions/${id}`, { headers, body: { name: "named" } });
    await all.events.until(({ event, data }) => event === "changed" && data.name === "named");

    expect(all.stream.messages().map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    // a reader that believes nothing takes all of it
    const strict = createStrictReader();
    all.live.events().forEach(strict.take);
    expect(strict.messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(strict.exchange()).toMatchObject({ n: 2, state: "done" });
    expect(all.events.events().filter(({ event }) => event === "reset")).toHaveLength(1);
    const failures = t.log.filter(({ event }) => event === "failure");
    expect(failures.every(({ reason }) => reason !== undefined)).toBe(true);
  });

  it("[STORE-34] [PG-12] leaves them open too if it is a file that was moved, and is put back", async () => {
    await using t = await startTestServer({ token, stream: { pollMs: 50, livePollMs: 50 } });
    const id = await t.newSession();
    await t.post(id, "first");
    const all = await openAll(t, id);

    renameSync(t.path, `${t.path}.moved`);
    const body = { content: "in vain" };
    const refused = await t.call("POST", `/api/sessions/${id}/messages`, { headers, body });
    expect(refused.status).toBe(503);
    renameSync(`${t.path}.moved`, t.path);
    await exchangeOf(t.store, id, "again");

    await all.stream.received(3);
    await all.live.first(({ event, data }) => event === "message" && data.seq === 3);
    await all.events.until(({ event, data }) => event === "exchange" && data.state === "done");
  });
});
