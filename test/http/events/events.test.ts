import { isDeepStrictEqual } from "node:util";

import { expect, it } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import type { SessionEvent } from "../../../src/core/schemas/session-events.ts";
import { releaseLease } from "../../../src/store/records/leases/lease.ts";
import type { Store } from "../../../src/store/store.ts";
import { openEvents } from "../../helpers/session-events.ts";
import { execute } from "../../helpers/engines.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { startTestServer } from "../../helpers/server.ts";
import { waitingSession } from "../../helpers/waiting-session.ts";
import { begin, storeAnswer } from "../live/running-exchange.ts";

const token = "0123456789abcdef0123456789abcdef";

function of(name: SessionEvent["event"], id: string) {
  return ({ event, data }: SessionEvent): boolean =>
    event === name &&
    ("session_id" in data ? data.session_id === id : "id" in data && data.id === id);
}

it("[EVENTS-1] [EVENTS-2] [EVENTS-9] begins with reset, and has the changes of every node with their values", async () => {
  await using t = await startTestServer({ token });
  await using elsewhere = await openStoreAt(t.path);
  await using node = await startTestServer({ store: elsewhere, token });
  const client = createClient({ baseUrl: node.url, token });
  const events = await openEvents(t.url, { token });
  expect(events.status).toBe(200);
  const [first] = await events.until(() => true);
  expect(first).toMatchObject({ event: "reset", data: {} });
  const { id } = await client.createSession();
  const created = (await events.until(of("created", id))).find(of("created", id));
  expect(created?.data).toEqual((await client.listSessions()).sessions[0]);
  const fence = await begin(elsewhere, id, "Hello");
  await events.until(
    (each) => of("exchange", id)(each) && "state" in each.data && each.data.state === "running",
  );
  await storeAnswer(elsewhere, fence, "a", "Good morning");
  await elsewhere.write(releaseLease, { fence, finished: true });
  const all = await events.until(
    (each) => of("exchange", id)(each) && "state" in each.data && each.data.state === "done",
  );
  // what its requests cost is read with the list alone
  const { usage: _usage, cost_micros: _cost, ...listed } = (await client.listExchanges(id))[0]!;
  expect(all.findLast(of("exchange", id))?.data).toEqual(listed);
  const asking = await waitingSession(elsewhere, ["yes", "no"]);
  await events.until(of("question", asking.id));
  await client.answerQuestion(asking.id, asking.ids[0]!, { choice: "1" });
  const answered = await events.until(
    ({ event, data }) => event === "question" && data.state === "answered",
  );
  const { path: _, ...question } = (await client.listQuestions(asking.id))[0] ?? {};
  expect(question).toEqual({});
  expect(answered.findLast(of("question", asking.id))?.data).toMatchObject({ answer: "yes" });
  await client.patchSession(id, { name: "named" });
  await client.deleteSession(id);
  const deleted = await events.until(of("deleted", id));
  expect(deleted.find(of("deleted", id))?.data).toEqual({ id });
  events.cut();
});

it("[EVENTS-4] [EVENTS-9] each id resumes after its event, on another node too", async () => {
  await using t = await startTestServer();
  await using elsewhere = await openStoreAt(t.path);
  await using node = await startTestServer({ store: elsewhere });
  const events = await openEvents(t.url);
  await events.until(() => true);
  const ids: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    ids.push(await t.newSession());
    await events.until(of("created", ids[count]!));
    await t.post(ids[count]!, "Hello");
    await events.until(of("changed", ids[count]!));
  }
  const last = ids.at(-1)!;
  const all = [...events.events()];
  events.cut();
  const marker = await t.newSession();
  for (const [index, { id: lastId }] of all.entries()) {
    const again = await openEvents(node.url, { lastId });
    const rest = await again.until(of("created", marker));
    const missing = new Set(
      all.slice(index + 1).map(({ data }) => ("id" in data ? data.id : last)),
    );
    const seen = new Set(rest.map(({ data }) => ("id" in data ? data.id : "")));
    expect(missing.isSubsetOf(seen)).toBe(true);
    expect(rest.some(({ event }) => event === "reset")).toBe(false);
    again.cut();
  }
});

it("[EVENTS-6] [EVENTS-11] [EVENTS-15] refuses what no event can have had as Last-Event-ID, and begins again after a foreign one", async () => {
  await using t = await startTestServer();
  for (const id of [
    "1",
    "x-1",
    "01234567--1",
    "01234567-01",
    "01234567.1",
    "0123456A-1",
    "\u00e9",
  ]) {
    const answer = await t.call("GET", "/api/events", { headers: { "last-event-id": id } });
    expect(answer).toMatchObject({ status: 422, json: { code: "invalid_request" } });
  }
  expect((await t.call("GET", "/api/events?include=labels")).status).toBe(422);
  expect((await t.call("GET", "/api/events?limit=1")).status).toBe(422);
  for (const lastId of ["", "01234567-1"]) {
    const events = await openEvents(t.url, { lastId });
    const id = expect.stringMatching(/^[0-9a-f]{8}-\d+$/) as string;
    expect((await events.until(() => true))[0]).toMatchObject({ event: "reset", id });
    events.cut();
  }
  const head = await t.call("HEAD", "/api/events");
  expect(head.status).toBe(200);
  expect(head.headers.get("content-type")).toBe("text/event-stream");
});

it("[EVENTS-3] shows sessions as the list does", async () => {
  await using t = await startTestServer({ token });
  const client = createClient({ baseUrl: t.url, token });
  const events = await openEvents(t.url, { token });
  await events.until(() => true);
  const { id } = await client.createSession({ metadata: { team: "a" } });
  await client.patchSession(id, { name: "named", archived: true });
  const isArchived = async (): Promise<boolean> =>
    (await client.listSessions({ archived: true })).sessions.length === 1;
  expect(await isArchived()).toBe(true);
  await client.queueExchange(id, "Hello");
  const { sessions } = await client.listSessions();
  expect(sessions).toMatchObject([
    { name: "named", metadata: { team: "a" }, exchange: { n: 1, state: "queued" } },
  ]);
  const wanted = JSON.stringify(sessions[0]);
  await events.until(({ data }) => JSON.stringify(data) === wanted);
  events.cut();
});

it("[EVENTS-12] readers share reads, however many they are", async () => {
  let reads = 0;
  await using t = await startTestServer();
  const counted: Store = {
    ...t.store,
    read: (operation, input) => {
      reads += 1;
      return t.store.read(operation, input);
    },
  };
  await using node = await startTestServer({ store: counted });
  const readers = await Promise.all(Array.from({ length: 200 }, () => openEvents(node.url)));
  await Promise.all(readers.map((each) => each.until(() => true)));
  reads = 0;
  const id = await t.newSession();
  await Promise.all(readers.map((each) => each.until(of("created", id))));
  // the create, its page, and those of polls meanwhile
  expect(reads).toBeLessThan(100);
  readers.forEach((each) => each.cut());
});

it("[EVENTS-13] a reader that takes nothing is cut, and resumes without loss", async () => {
  await using t = await startTestServer({ stream: { stallMs: 300 } });
  const lastId = await positionOf(t.url);
  const ids: string[] = [];
  for (let count = 0; count < 200; count += 1) {
    ids.push(await t.newSession());
  }
  // far more than the sockets of the system hold
  await execute(t.store, "UPDATE sessions SET model = ?", "x".repeat(60_000));
  const idle = await openEvents(t.url, { lastId });
  idle.pause();
  while ((await openStreams(t.url)) > 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  await using patient = await startTestServer({ store: t.store });
  const again = await openEvents(patient.url, { lastId });
  const seen = (): Set<string> =>
    new Set(again.events().map(({ data }) => ("id" in data ? data.id : "")));
  await again.until(() => seen().size === ids.length);
  expect(seen()).toEqual(new Set(ids));
  again.cut();
});

/** As the metrics count them. */
async function openStreams(url: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(/^reprise_streams_open (\d+)$/m.exec(await answer.text())?.[1]);
}

async function positionOf(url: string): Promise<string> {
  const events = await openEvents(url);
  const [first] = await events.until(() => true);
  events.cut();
  return first!.id;
}

it("[EVENTS-11] needs the token, counts as a stream, and is cut without its end when the service stops", async () => {
  // the service does not wait for its streams to end by themselves
  await using t = await startTestServer({ token, graceMs: 300_000 });
  expect((await openEvents(t.url)).status).toBe(401);
  const events = await openEvents(t.url, { token });
  await events.until(() => true);
  expect(await openStreams(t.url)).toBe(1);
  const closed = t.server.close();
  expect(await events.ended).toBe(false);
  await closed;
});

it("[EVENTS-14] the client yields the events across lost connections, and resumes after the last one", async () => {
  await using t = await startTestServer();
  await using elsewhere = await openStoreAt(t.path);
  let url = t.url;
  const lost: unknown[] = [];
  const stop = new AbortController();
  const client = createClient({
    baseUrl: "http://reprise.invalid",
    fetch: (input, init) =>
      fetch(new URL(new URL(input instanceof Request ? input.url : input).pathname, url), init),
  });
  const events = client.events({
    signal: stop.signal,
    pauseMs: { first: 5, longest: 20 },
    onLost: (error) => lost.push(error),
  });
  expect((await events.next()).value).toMatchObject({ event: "reset" });
  const before = await t.newSession();
  const first = (await events.next()).value!;
  expect(first).toMatchObject({ event: "created", data: { id: before } });
  await using node = await startTestServer({ store: elsewhere });
  url = node.url;
  await t.server.close();
  const after = await node.newSession();
  let next = (await events.next()).value!;
  // on PostgreSQL an event comes again while an older transaction of any database of the server is open
  while (isDeepStrictEqual([next.event, next.data], [first.event, first.data])) {
    next = (await events.next()).value!;
  }
  expect(next).toMatchObject({ event: "created", data: { id: after } });
  expect(lost).toHaveLength(1);
  stop.abort();
  await expect(events.next()).rejects.toThrow("aborted");
});
