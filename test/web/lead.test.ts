import { setImmediate } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { ClientError, type ClientErrorCode } from "../../src/entries/client.ts";
import type { Feed } from "../../web/streams/feed.ts";
import { lead } from "../../web/streams/lead.ts";
import { CONNECTING, type Status } from "../../web/streams/status.ts";
import { createLocks, createTime } from "./own-browser.ts";

const error = (status: number, code: ClientErrorCode): ClientError =>
  new ClientError(code, "no", { status });
const database = error(503, "database_unavailable");
const unreachable = error(0, "unreachable");

/** A service whose answers the test chooses. Its events are numbers, and a state is the last one. */
function createService() {
  /** What the next read, and each check and poll, fails with. */
  const fails = { read: null as unknown, check: null as unknown, isSilent: false };
  let streams = 0;
  let most = 0;
  const feed: Feed<number, number> = {
    read: async function* (state, { signal, onOpen }) {
      await Promise.resolve();
      if (fails.read !== null) {
        throw fails.read;
      }
      streams += 1;
      most = Math.max(most, streams);
      try {
        onOpen();
        yield (state() ?? 0) + 1;
        const cut = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => cut.reject(signal.reason), { once: true });
        await cut.promise;
      } finally {
        streams -= 1;
      }
    },
    poll: async (from) => [(from ?? 0) + 1],
    check: async () => {
      if (fails.isSilent) {
        await new Promise(() => undefined);
      }
      if (fails.check !== null) {
        throw fails.check;
      }
      return () => [];
    },
    needsCheck: () => false,
    fold: (_state, event) => event,
    begin: (state) => state,
    arrive: (_mine, event) => [event],
  };
  return { feed, fails, streams: () => streams, most: () => most };
}

function startTabs() {
  const time = createTime();
  const locks = createLocks();
  const service = createService();
  const settle = async (ms = 0): Promise<void> => {
    await setImmediate();
    time.advance(ms);
    await setImmediate();
    await setImmediate();
  };
  const open = () => {
    const ending = new AbortController();
    const statuses: Status[] = [];
    let state: number | null = null;
    let events = 0;
    const led = lead({
      feed: service.feed,
      host: { ...time.clock, locks },
      signal: ending.signal,
      state: () => state,
      publish: (event) => {
        events += 1;
        state = event;
      },
      setStatus: (status) => statuses.push(status),
    });
    led.catch(() => undefined);
    onTestFinished(() => ending.abort());
    return {
      statuses,
      status: () => statuses.at(-1) ?? CONNECTING,
      kind: () => (statuses.at(-1) ?? CONNECTING).kind,
      events: () => events,
      close: () => ending.abort(),
      led,
    };
  };
  return { ...service, time, open, settle };
}

it("[PAGE-40] two streams are open at most: others poll, and take the stream that is free next", async () => {
  const t = startTabs();
  const [first, second, third, fourth] = [t.open(), t.open(), t.open(), t.open()];
  await t.settle(300);
  expect([first, second, third, fourth].map(({ kind }) => kind())).toEqual([
    "live",
    "live",
    "polling",
    "polling",
  ]);
  await t.settle(3000);
  expect(third.events()).toBe(2);
  first.close();
  await t.settle();
  expect([third.kind(), fourth.kind(), t.streams()]).toEqual(["live", "polling", 2]);
  third.close();
  second.close();
  await t.settle();
  expect([fourth.kind(), t.streams(), t.most()]).toEqual(["live", 1, 2]);
});

it.each([
  { failure: error(401, "unauthorized"), kind: "refused" },
  { failure: error(403, "token_required"), kind: "refused" },
  { failure: error(404, "session_not_found"), kind: "gone" },
])("[PAGE-43] a read that is refused with $failure.code is not tried again", async (given) => {
  const t = startTabs();
  t.fails.read = given.failure;
  const tab = t.open();
  await t.settle();
  expect(tab.kind()).toBe(given.kind);
  await tab.led;
  // its stream is free for others
  t.fails.read = null;
  const others = [t.open(), t.open()];
  await t.settle();
  expect(others.map(({ kind }) => kind())).toEqual(["live", "live"]);
});

it("[PAGE-43] a service that is away is tried again, later each time, and the time is known", async () => {
  const t = startTabs();
  const tab = t.open();
  await t.settle();
  expect(tab.kind()).toBe("live");
  const heardAt = t.time.clock.now();
  t.fails.check = unreachable;
  t.fails.read = unreachable;
  await t.settle(10_000);
  const waits: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const status = tab.status();
    if (status.kind !== "offline") {
      throw new Error(status.kind);
    }
    expect(status.as_of).toBe(heardAt);
    const wait = status.next_at - t.time.clock.now();
    waits.push(wait);
    await t.settle(wait);
  }
  expect(waits[0]).toBeLessThanOrEqual(500);
  expect(waits.at(-1)).toBeGreaterThanOrEqual(5000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
  t.fails.read = t.fails.check = null;
  await t.settle(10_000);
  expect(tab.kind()).toBe("live");
});

it("[PAGE-43] a database that is away is shown while the stream is open, and after a failed read", async () => {
  const t = startTabs();
  const tab = t.open();
  await t.settle();
  t.fails.check = database;
  await t.settle(10_000);
  expect([tab.kind(), t.streams()]).toEqual(["unavailable", 1]);
  t.fails.check = null;
  await t.settle(3000);
  expect(tab.kind()).toBe("live");
  tab.close();
  t.fails.read = database;
  const other = t.open();
  await t.settle();
  expect(other.kind()).toBe("unavailable");
});

it("[PAGE-43] a service that does not answer a check in 10 s counts as away", async () => {
  const t = startTabs();
  const tab = t.open();
  await t.settle();
  t.fails.isSilent = true;
  await t.settle(10_000);
  expect(tab.kind()).toBe("live");
  t.fails.read = unreachable;
  await t.settle(10_000);
  expect([tab.kind(), t.streams()]).toEqual(["offline", 0]);
});
