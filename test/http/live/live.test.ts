import { expect, it } from "vitest";

import { createFeed, type Feed } from "../../../src/exchange/live/feed.ts";
import type { LiveEvent } from "../../../src/core/schemas/live.ts";
import type { Fence } from "../../../src/store/records/leases/fence.ts";
import { releaseLease } from "../../../src/store/records/leases/lease.ts";
import { storeLive } from "../../../src/store/records/live/store-live.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../src/store/store.ts";
import { openLive } from "../../helpers/live-reader.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { startTestServer } from "../../helpers/server.ts";
import { begin, storeAnswer } from "./running-exchange.ts";

/** Stores a piece of an answer as a process that runs the exchange does. */
async function storePiece(
  store: Store,
  fence: Fence,
  message_id: string,
  position: number,
  text: string,
) {
  const value = JSON.stringify({
    calls: [],
    outputs: [],
    usage: { input_tokens: 1, output_tokens: 2 },
    retry: null,
    reasoning: null,
  });
  const state = { revision: 1, message_id, value };
  const piece = { message_id, position, text };
  expect(await store.write(storeLive, { writes: [{ ...fence, n: 1, piece, state }] })).toEqual([
    "stored",
  ]);
}

function namesOf(events: readonly LiveEvent[]): string[] {
  return events.map(({ event }) => event);
}

it("[LIVE-20] [LIVE-22] [LIVE-23] begins with a snapshot, and shows what another process stores", async () => {
  await using t = await startTestServer();
  await using elsewhere = await openStoreAt(t.path);
  const id = await t.newSession();
  const live = await openLive(t.url, id);
  const [first] = await live.until(() => true);
  expect(first).toMatchObject({
    event: "snapshot",
    data: {
      session: { id },
      exchange: null,
      questions: [],
      calls: [],
      outputs: [],
      usage: null,
      retry: null,
      reasoning: null,
      text: null,
    },
  });
  const fence = await begin(elsewhere, id, "Hello");
  await storePiece(elsewhere, fence, "a", 0, "Good 👋🏽 ");
  await live.until(({ event }) => event === "text");
  await storePiece(elsewhere, fence, "a", 8, "mor");
  await live.until(({ event, data }) => event === "text" && data.text === "mor");
  const late = await openLive(t.url, id);
  expect((await late.until(() => true))[0]).toMatchObject({
    data: {
      exchange: { n: 1, state: "running" },
      text: { message_id: "a", offset: 0, text: "Good 👋🏽 mor" },
    },
  });
  late.cut();
  await storeAnswer(elsewhere, fence, "a", "Good 👋🏽 morning");
  await elsewhere.write(releaseLease, { fence, finished: true });
  const events = await live.until(
    ({ event, data }) => event === "exchange" && data.state === "done",
  );
  const texts = events.flatMap(({ event, data }) => (event === "text" ? [data] : []));
  expect(texts.map(({ text }) => text).join("")).toBe("Good 👋🏽 morning");
  expect(texts.map(({ offset }) => offset)).toEqual([0, 8, 11]);
  expect(namesOf(events).filter((name) => name === "message")).toHaveLength(2);
  expect(namesOf(events).lastIndexOf("message")).toBeLessThan(events.length - 1);
  live.cut();

  // each of its ids resumes after its event, on another node too
  await using node = await startTestServer({ store: elsewhere });
  for (const [index, { id: lastId }] of events.entries()) {
    const again = await openLive(node.url, id, { lastId });
    const rest = events
      .slice(index + 1)
      .filter(({ event }) => event === "message" || event === "text");
    const isLast = ({ event, data }: LiveEvent) => event === "message" && data.seq === 2;
    const resumed = rest.length === 0 ? await again.until(() => true) : await again.until(isLast);
    const joined = (all: readonly LiveEvent[]) =>
      all.map(({ event, data }) => (event === "text" ? data.text : "")).join("");
    // a text of which nothing was received comes with its message
    expect(["", joined(rest)]).toContain(joined(resumed));
    expect(resumed.filter(({ event }) => event === "message").map(({ data }) => data)).toEqual(
      rest.filter(({ event }) => event === "message").map(({ data }) => data),
    );
    again.cut();
  }
});

it("[LIVE-25] declares a text void whose process died, and never again shows it", async () => {
  await using t = await startTestServer();
  const id = await t.newSession();
  const fence = await begin(t.store, id, "Hello");
  await storePiece(t.store, fence, "a", 0, "one two");
  const live = await openLive(t.url, id);
  const [snapshot] = await live.until(() => true);
  await t.store.write(releaseLease, { fence, finished: false });
  const next = await begin(t.store, id, null);
  await storePiece(t.store, next, "b", 0, "three");
  await storeAnswer(t.store, next, "b", "three four");
  const isLast = ({ event, data }: LiveEvent) => event === "message" && data.message_id === "b";
  const events = await live.until(isLast);
  expect(events.find(({ event }) => event === "reset")).toMatchObject({
    data: { message_id: "a", attempt: fence.epoch },
  });
  const again = await openLive(t.url, id, { lastId: snapshot!.id });
  const names = namesOf(await again.until(isLast));
  expect(names.indexOf("reset")).toBeGreaterThan(0);
  live.cut();
  again.cut();
});

it("[LIVE-26] closes once the session has ended, with 204 for a reader that has everything", async () => {
  await using t = await startTestServer();
  const id = await t.newSession();
  await t.post(id, "one");
  const live = await openLive(t.url, id, { query: "?after_seq=0" });
  await live.until(({ event }) => event === "message");
  await t.call("POST", `/api/sessions/${id}/end`);
  expect(await live.ended).toBe(true);
  const lastId = live.events().at(-1)!.id;
  expect((await openLive(t.url, id, { lastId })).status).toBe(204);
  const whole = await openLive(t.url, id);
  expect(await whole.ended).toBe(true);
  expect(namesOf(whole.events())).toEqual(["snapshot"]);
  const path = `/api/sessions/${id}/live`;
  expect(await t.call("HEAD", path)).toMatchObject({ status: 200, text: "" });
  expect((await t.call("HEAD", path, { headers: { "last-event-id": lastId } })).status).toBe(204);
  for (const bad of ["1", "x", `${lastId} `.repeat(2), `${lastId}é`]) {
    const answer = await t.call("GET", path, { headers: { "last-event-id": bad } });
    expect(answer, bad).toMatchObject({ status: 422, json: { code: "invalid_request" } });
  }
  for (const query of [
    "after_seq=-1",
    "after_seq=x",
    "all=1",
    "last_seq=1",
    "after_seq=1&after_seq=1",
  ]) {
    expect((await t.call("GET", `${path}?${query}`)).status, query).toBe(422);
  }
  expect(
    (await t.call("GET", "/api/sessions/0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01/live")).status,
  ).toBe(404);
});

it("[LIVE-26] ends when the session is deleted, and all when the service stops", async () => {
  await using t = await startTestServer();
  const [id, kept] = [await t.newSession(), await t.newSession()];
  const gone = await openLive(t.url, id);
  const cut = await openLive(t.url, kept);
  await Promise.all([gone, cut].map((live) => live.until(() => true)));
  await t.store.write(deleteSessionTree, { id });
  expect(await gone.ended).toBe(true);
  expect(t.server.app.live.open).toBe(1);
  await t.server.close();
  expect(await cut.ended).toBe(false);
  expect(t.server.app.live.open).toBe(0);
});

it("[LIVE-28] readers of one session share what is read", async () => {
  await using t = await startTestServer();
  let reads = 0;
  const store = {
    ...t.store,
    read: (...args: Parameters<typeof t.store.read>) => {
      reads += args[0].name === "readLiveFeed" ? 1 : 0;
      return t.store.read(...args);
    },
  } as Store;
  await using counted = await startTestServer({ store });
  const id = await t.newSession();
  const readers = await Promise.all(Array.from({ length: 50 }, () => openLive(counted.url, id)));
  await Promise.all(readers.map((reader) => reader.until(() => true)));
  const before = reads;
  for (const content of ["one", "two", "three"]) {
    await counted.post(id, content);
    const isIt = ({ event, data }: LiveEvent) => event === "message" && data.content === content;
    await Promise.all(readers.map((reader) => reader.until(isIt)));
  }
  // one for each message at least, and a poll may come in between
  expect(reads - before).toBeGreaterThanOrEqual(3);
  expect(reads - before).toBeLessThanOrEqual(12);
  for (const reader of readers) {
    reader.cut();
  }
});

it("[LIVE-27] sends text to readers of the same process before it is stored, and to others after it", async () => {
  await using t = await startTestServer();
  const id = await t.newSession();
  const fence = await begin(t.store, id, "Hello");
  const report = (feed: Feed) => {
    const { begun, heard } = feed.open(id);
    begun({ n: 1, epoch: fence.epoch });
    const identity = { exchange_id: id, session_id: id };
    return (text: string) => heard({ type: "text", ...identity, message_id: "a", text });
  };
  const never = createFeed({ store: t.store, storeMs: 1_000_000 });
  await using here = await startTestServer({ store: t.store, live: never });
  const [near, far] = [await openLive(here.url, id), await openLive(t.url, id)];
  await Promise.all([near, far].map((live) => live.until(() => true)));
  const say = report(never);
  const isText = (text: string) => (event: LiveEvent) =>
    event.event === "text" && event.data.text === text;
  for (const word of ["one ", "two ", "👩‍👩‍👧"]) {
    say(word);
    await near.until(isText(word));
  }
  expect(namesOf(far.events())).not.toContain("text");
  never.close();
  const often = createFeed({ store: t.store, storeMs: 1 });
  report(often)("one two 👩‍👩‍👧");
  await far.until(isText("one two 👩‍👩‍👧"));
  often.close();
  near.cut();
  far.cut();
});
