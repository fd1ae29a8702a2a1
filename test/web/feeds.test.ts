import { afterAll, beforeAll, expect, it } from "vitest";

import { createClient, type LiveEvent } from "../../src/entries/client.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import type { Attempt, Feed } from "../../web/streams/feed.ts";
import { listFeed } from "../../web/streams/list-feed.ts";
import { type Connect, sessionFeed, sharedFeed } from "../../web/streams/session-feed.ts";
import type { SessionState } from "../../web/streams/session-state.ts";
import { failureOf } from "../../web/streams/status.ts";
import { openPage } from "../helpers/page-client.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

let service: TestServer;
beforeAll(async () => {
  service = await startTestServer({ token: TOKEN });
});
afterAll(() => service[Symbol.asyncDispose]());

const TOKEN = "a-token";
const connectAs =
  (headers: Readonly<Record<string, string>>): Connect<keyof ReturnType<typeof createClient>> =>
  (onOpen) =>
    createClient({
      baseUrl: service.url,
      fetch: async (input, init) => {
        const sent = new Headers(init?.headers);
        for (const [name, value] of Object.entries(headers)) {
          sent.set(name, value);
        }
        const answer = await fetch(input, { ...init, headers: sent });
        if (answer.ok) {
          onOpen();
        }
        return answer;
      },
    });
const asOwner = connectAs({ authorization: `Bearer ${TOKEN}` });

/** A session with so many messages, and what it holds. */
async function newSession(messages: number) {
  const id = await service.newSession();
  for (let n = 1; n <= messages; n += 1) {
    await service.store.write(appendUserMessage, { reference: id, content: `message ${n}` });
  }
  return id;
}

/** The first events after a state. */
async function readFrom<State, Event>(
  feed: Feed<State, Event>,
  from: State | null,
  count: number,
): Promise<Event[]> {
  const ending = new AbortController();
  const attempt: Attempt = { signal: ending.signal, onOpen: () => undefined };
  const events: Event[] = [];
  let state = from;
  try {
    for await (const event of feed.read(() => state, attempt)) {
      state = feed.fold(state, event);
      events.push(event);
      if (events.length === count) {
        break;
      }
    }
  } finally {
    ending.abort();
  }
  return events;
}

const short = (event: LiveEvent): string =>
  event.event === "snapshot"
    ? `snapshot ${event.data.last_seq}`
    : event.event === "message"
      ? event.data.content
      : event.event;
const stateOf = async (feed: Feed<SessionState, LiveEvent>): Promise<SessionState> => {
  const [event] = await readFrom(feed, null, 1);
  return feed.fold(null, event!)!;
};

it("[PAGE-41] a reader continues after its last message, if it did not miss too many", async () => {
  const id = await newSession(2);
  const feed = sessionFeed(id, asOwner);
  const state = await stateOf(feed);
  await service.store.write(appendUserMessage, { reference: id, content: "missed" });
  expect((await readFrom(feed, state, 2)).map(short)).toEqual(["snapshot 2", "missed"]);
  // a tab that the service was asked for without a stream has no position, but a last message
  expect((await readFrom(feed, { ...state, id: "" }, 2)).map(short)).toEqual([
    "snapshot 2",
    "missed",
  ]);
  const behind = { ...state, seq: -498 };
  expect((await readFrom(feed, behind, 1)).map(short)).toEqual(["snapshot 3"]);
});

it("[PAGE-41] what a tab knows of another history of the session is replaced", async () => {
  const id = await newSession(2);
  const feed = sessionFeed(id, asOwner);
  const state = await stateOf(feed);
  const ahead = { ...state, seq: 7, id: state.id.replace(/^2\./, "7.") };
  expect((await readFrom(feed, ahead, 1)).map(short)).toEqual(["snapshot 2"]);
  const refused = { ...state, id: ahead.id };
  expect((await readFrom(feed, refused, 1)).map(short)).toEqual(["snapshot 2"]);
});

it("[PAGE-40] a tab without a stream reads the messages that it misses and the state of now", async () => {
  const id = await newSession(1);
  const feed = sessionFeed(id, asOwner);
  const state = await stateOf(feed);
  expect((await feed.poll(state)).map(short)).toEqual(["snapshot 1"]);
  await service.store.write(appendUserMessage, { reference: id, content: "missed" });
  expect((await feed.poll(state)).map(short)).toEqual(["missed", "snapshot 2"]);
});

it("[PAGE-43] a session that ended has nothing more, a deleted one is gone, one without a login is refused", async () => {
  const id = await newSession(1);
  const feed = sessionFeed(id, asOwner);
  const state = await stateOf(feed);
  await asOwner(() => undefined).endSession(id);
  const ended = await readFrom(feed, { ...state, id: "" }, 100);
  expect(ended.map(short)).toEqual(["snapshot 1"]);
  await asOwner(() => undefined).deleteSession(id);
  const failure = (reads: Promise<unknown>): Promise<string> => reads.then(() => "none", failureOf);
  expect(await failure(readFrom(feed, state, 1))).toBe("gone");
  expect(await failure(feed.check())).toBe("gone");
  const guest = sessionFeed(id, connectAs({}));
  expect(await failure(readFrom(guest, null, 1))).toBe("refused");
});

it("[PAGE-42] a name that changes reaches tabs with the next check, and the list at once", async () => {
  const id = await newSession(1);
  const feed = sessionFeed(id, asOwner);
  const state = await stateOf(feed);
  expect((await feed.check())(state)).toEqual([]);
  const list = listFeed(asOwner);
  const [reset] = await readFrom(list, null, 1);
  await asOwner(() => undefined).patchSession(id, { name: "Rent" });
  const [checked] = (await feed.check())(state);
  expect(checked).toMatchObject({ event: "snapshot", data: { session: { name: "Rent" } } });
  const [changed] = await readFrom(list, list.fold(null, reset!), 1);
  expect(changed).toMatchObject({ event: "changed", data: { id, name: "Rent" } });
});

it("[PAGE-41] a visitor follows the messages of one session, and nothing else", async () => {
  const id = await newSession(2);
  const other = await newSession(1);
  const { json } = await service.call<{ secret: string }>("POST", `/api/sessions/${id}/shares`, {
    body: {},
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const page = openPage(service);
  await page.login({ share: json.secret });
  const cookie = [...page.cookies].map(([name, set]) => `${name}=${/=([^;]*)/.exec(set)?.[1]}`);
  const asVisitor = connectAs({
    cookie: cookie.join("; "),
    "x-reprise-page": "1",
    "sec-fetch-site": "same-origin",
  });
  const feed = sharedFeed(id, asVisitor);
  const state = await stateOf(feed);
  await service.store.write(appendUserMessage, { reference: id, content: "missed" });
  expect((await readFrom(feed, state, 2)).map(short)).toEqual(["snapshot 2", "missed"]);
  expect((await feed.poll(state)).map(short)).toEqual(["missed", "snapshot 3"]);
  await asOwner(() => undefined).endSession(id);
  expect((await readFrom(feed, state, 100)).map(short)).toEqual(["snapshot 2", "missed"]);
  await expect(stateOf(sharedFeed(other, asVisitor))).rejects.toMatchObject({ status: 404 });
});
