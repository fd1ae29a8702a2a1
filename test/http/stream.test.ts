import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { SessionDetail } from "../../src/core/schemas/schemas.ts";
import { readProgress } from "../../src/store/records/messages/read.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { endSession, startThread } from "../../src/store/records/sessions/change.ts";
import { startProgram } from "../helpers/start-program.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { noticesQuiet } from "../helpers/database.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { openStream } from "../helpers/stream.ts";

let t: TestServer;
beforeAll(async () => {
  t = await startTestServer();
});
afterAll(() => t[Symbol.asyncDispose]());

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

async function sessionWith(messages: number): Promise<string> {
  const id = await t.newSession();
  for (const number of numbers(1, messages)) {
    await t.post(id, `message ${number}`);
  }
  return id;
}

/** All that a stream of an ended session sends, as its positions. */
async function replay(id: string, query = "", headers: Record<string, string> = {}) {
  const stream = await openStream(t.url, `/api/sessions/${id}/stream${query}`, headers);
  await stream.ended;
  return { status: stream.status, seqs: stream.messages().map(({ seq }) => seq) };
}

async function end(id: string): Promise<void> {
  await t.call("POST", `/api/sessions/${id}/end`);
}

describe("a stream", () => {
  it("[HTTP-28] sends what was stored and then what is being stored, once and in order", async () => {
    const id = await sessionWith(3);
    const stream = await openStream(t.url, `/api/sessions/${id}/stream`);
    expect(stream.status).toBe(200);
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect(stream.headers["cache-control"]).toBe("no-store");
    await stream.received(3);
    await Promise.all(numbers(4, 23).map((number) => t.post(id, `live ${number}`)));
    const messages = await stream.received(23);
    await end(id);
    expect(await stream.ended).toBe(true);
    expect(stream.messages()).toEqual(messages);
    const detail = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
    expect(messages).toEqual(detail.json.messages);
  });

  it("[HTTP-28] keeps line breaks, carriage returns and anything else in one data line", async () => {
    const id = await t.newSession();
    const content = "a\nb\r\nc\rd\n\ndata: x\u2028\u2029\ufeff😀\u0001";
    await t.post(id, content);
    const stream = await openStream(t.url, `/api/sessions/${id.slice(0, 8)}/stream`);
    expect((await stream.received(1))[0]?.content).toBe(content);
    stream.cut();
  });

  it("[HTTP-28] of a session gets everything while it is written, and so do others of the session", async () => {
    const id = await t.newSession();
    const open = () => openStream(t.url, `/api/sessions/${id}/stream`);
    const early = await Promise.all([open(), open()]);
    const posting = Promise.all(numbers(1, 100).map((number) => t.post(id, `m${number}`)));
    const late = await Promise.all([open(), open(), open()]);
    await posting;
    await end(id);
    for (const stream of [...early, ...late]) {
      await stream.ended;
      expect(stream.messages().map(({ seq }) => seq)).toEqual(numbers(1, 100));
    }
  });

  it("[HTTP-8] leaves archived messages out unless all=true", async () => {
    const id = await sessionWith(2);
    await t.store.write(startThread, { id, archive: true });
    await t.post(id, "after the clear");
    await end(id);
    expect((await replay(id)).seqs).toEqual([3]);
    expect((await replay(id, "?all=false")).seqs).toEqual([3]);
    expect((await replay(id, "?all=true")).seqs).toEqual([1, 2, 3]);
    expect((await replay(id, "?last_seq=1&all=true")).seqs).toEqual([2, 3]);
  });
});

describe("the position at which a stream begins", () => {
  it("[HTTP-29] a stream begins after Last-Event-ID, else after last_seq, else at the beginning", async () => {
    const id = await sessionWith(5);
    await end(id);
    expect((await replay(id)).seqs).toEqual([1, 2, 3, 4, 5]);
    expect((await replay(id, "?last_seq=0")).seqs).toEqual([1, 2, 3, 4, 5]);
    expect((await replay(id, "?last_seq=2")).seqs).toEqual([3, 4, 5]);
    expect((await replay(id, "", { "Last-Event-ID": "4" })).seqs).toEqual([5]);
    expect((await replay(id, "?last_seq=1", { "Last-Event-ID": "3" })).seqs).toEqual([4, 5]);
    expect((await replay(id, "?last_seq=4", { "Last-Event-ID": "1" })).seqs).toEqual([2, 3, 4, 5]);
    expect((await replay(id, "?last_seq=4", { "Last-Event-ID": "0" })).seqs).toEqual(numbers(1, 5));
    expect((await replay(id, "?last_seq=3", { "Last-Event-ID": "" })).seqs).toEqual([4, 5]);
  });

  it("[HTTP-29] [HTTP-103] a position that is not a whole number is refused", async () => {
    const id = await sessionWith(1);
    for (const query of ["-1", "1.5", "x", "", "1e3", "%201", "99999999999999999999"]) {
      const answer = await t.call("GET", `/api/sessions/${id}/stream?last_seq=${query}`);
      expect([answer.status, answer.json], query).toMatchObject([422, { code: "invalid_request" }]);
    }
    for (const value of ["-1", "1.5", "x", "0x1", "1 2", "9".repeat(16)]) {
      const answer = await t.call("GET", `/api/sessions/${id}/stream`, {
        headers: { "last-event-id": value },
      });
      expect([answer.status, answer.json], value).toMatchObject([422, { code: "invalid_request" }]);
    }
  });

  it("[HTTP-29] a position after the last message is accepted; the stream waits for later ones", async () => {
    const id = await sessionWith(1);
    const stream = await openStream(t.url, `/api/sessions/${id}/stream?last_seq=3`);
    for (const number of numbers(2, 5)) {
      await t.post(id, `message ${number}`);
    }
    expect((await stream.received(2)).map(({ seq }) => seq)).toEqual([4, 5]);
    stream.cut();
  });
});

describe("the end of a session on its streams", () => {
  it("[HTTP-32] a stream sends the rest of an ended session, then closes; the next one is 204", async () => {
    const id = await sessionWith(2);
    await end(id);
    expect(await replay(id)).toEqual({ status: 200, seqs: [1, 2] });
    expect(await replay(id, "", { "Last-Event-ID": "2" })).toEqual({ status: 204, seqs: [] });
    expect(await replay(id, "?last_seq=9")).toEqual({ status: 204, seqs: [] });
  });

  it("[HTTP-32] [HTTP-104] a stream of an ended session without messages is 204, archived ones not counted", async () => {
    const id = await t.newSession();
    await end(id);
    expect((await replay(id)).status).toBe(204);
    const cleared = await sessionWith(1);
    await t.store.write(startThread, { id: cleared, archive: true });
    await end(cleared);
    expect((await replay(cleared)).status).toBe(204);
    expect((await replay(cleared, "?all=true")).status).toBe(200);
  });

  it("[HTTP-32] closes a stream when the session is ended by this process or another", async () => {
    const here = await sessionWith(1);
    const elsewhere = await sessionWith(1);
    const first = await openStream(t.url, `/api/sessions/${here}/stream`);
    const second = await openStream(t.url, `/api/sessions/${elsewhere}/stream`);
    await Promise.all([first.received(1), second.received(1)]);
    await end(here);
    expect(await first.ended).toBe(true);
    await using other = await openStoreAt(t.path);
    await other.write(endSession, { id: elsewhere });
    expect(await second.ended).toBe(true);
    expect(second.messages()).toHaveLength(1);
  });
});

describe("messages that other processes store", () => {
  it("[HTTP-30] messages of other processes are sent too, once and in order", async () => {
    const id = await t.newSession();
    const stream = await openStream(t.url, `/api/sessions/${id}/stream`);
    const programs = [1, 2].map(() => startProgram("store-append.ts", [t.path, id, "50"]));
    const mine = Promise.all(numbers(1, 50).map((number) => t.post(id, `mine ${number}`)));
    const messages = await stream.received(150);
    await mine;
    expect(
      (await Promise.all(programs.map(({ finished }) => finished))).map(({ code }) => code),
    ).toEqual([0, 0]);
    expect(messages.map(({ seq }) => seq)).toEqual(numbers(1, 150));
    stream.cut();
  });
});

describe("one poll for all streams", () => {
  it("[HTTP-35] makes no more reads for more streams, and leaves nothing behind", async () => {
    let looks = 0;
    let reads = 0;
    const store = {
      ...t.store,
      mayHaveChanged: () => {
        looks += 1;
        return t.store.mayHaveChanged();
      },
      read: (...args: Parameters<typeof t.store.read>) => {
        reads += 1;
        return t.store.read(...args);
      },
    } as typeof t.store;
    await using counted = await startTestServer({ store, stream: { pollMs: 20 } });
    const ids = await Promise.all(Array.from({ length: 30 }, () => counted.newSession()));
    const streams = await Promise.all(
      [...ids, ...ids].map((id) => openStream(counted.url, `/api/sessions/${id}/stream`)),
    );
    expect(counted.server.app.streams).toMatchObject({ open: 60, watched: 30 });
    await using other = await openStoreAt(t.path);
    // the first poll after a change sees every session for the first time and wakes it once
    await other.write(createSession, {});
    // if a store always says that something may have changed, each poll reads once
    const readsOf = (looked: number): number => (noticesQuiet() ? 1 : looked + 1);
    for (let read = Infinity; read > readsOf(5);) {
      const before = { looks, reads };
      await until(() => looks >= before.looks + 5);
      read = reads - before.reads;
    }
    const before = { looks, reads };
    await other.write(createSession, {});
    await until(() => looks >= before.looks + 5);
    expect(reads - before.reads).toBeGreaterThanOrEqual(1);
    expect(reads - before.reads).toBeLessThanOrEqual(readsOf(looks - before.looks));
    for (const stream of streams) {
      stream.cut();
    }
    await until(() => counted.server.app.streams.open === 0);
    expect(counted.server.app.streams.watched).toBe(0);
    const idle = looks;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
    expect(looks).toBeLessThanOrEqual(idle + 1);
  });

  it("[HTTP-35] wakes no stream for what it has sent already", async () => {
    let looks = 0;
    let pages = 0;
    let isPolled = true;
    const store = {
      ...t.store,
      mayHaveChanged: () => {
        looks += 1;
        return isPolled ? t.store.mayHaveChanged() : Promise.resolve(false);
      },
      read: (...args: Parameters<typeof t.store.read>) => {
        pages += Number(args[0] !== readProgress);
        return t.store.read(...args);
      },
    } as typeof t.store;
    await using counted = await startTestServer({ store, stream: { pollMs: 10 } });
    const id = await counted.newSession();
    const stream = await openStream(counted.url, `/api/sessions/${id}/stream`);
    /** Until a poll that began later has woken whom it wakes. */
    const poll = async (): Promise<void> => {
      const before = looks;
      await until(() => looks >= before + 3);
    };
    for (let count = 1; count <= 5; count += 1) {
      isPolled = false;
      await poll();
      pages = 0;
      await counted.post(id, `message ${count}`);
      await stream.received(count);
      isPolled = true;
      await poll();
      expect(pages).toBe(1);
    }
    stream.cut();
  });

  it("[HTTP-35] [HTTP-116] repeats a failed poll with the next one", async () => {
    let failures = 2;
    const failOnce = (operation: unknown): boolean =>
      (operation as { name: string }).name === "readProgress" && failures-- > 0;
    const store = {
      ...t.store,
      // as if every write came from another process
      onCommit: () => () => undefined,
      read: (...args: Parameters<typeof t.store.read>) =>
        failOnce(args[0]) ? Promise.reject(new Error("the disk")) : t.store.read(...args),
    } as typeof t.store;
    await using flaky = await startTestServer({ store, stream: { pollMs: 10 } });
    const id = await flaky.newSession();
    const stream = await openStream(flaky.url, `/api/sessions/${id}/stream`);
    await flaky.post(id, "still noticed");
    expect(await stream.received(1)).toHaveLength(1);
    // of failures in a row the first one is logged
    expect(flaky.log.filter(({ event }) => event === "failure")).toHaveLength(1);
    stream.cut();
  });
});

describe("the heartbeat", () => {
  it("[HTTP-31] comments keep a silent stream open and are not events", async () => {
    await using quick = await startTestServer({ stream: { heartbeatMs: 20 } });
    const id = await quick.newSession();
    const stream = await openStream(quick.url, `/api/sessions/${id}/stream`);
    await until(() => stream.text().split(":\n\n").length > 3);
    await quick.post(id, "x");
    await stream.received(1);
    expect(stream.text().match(/^event: .*$/gm)).toEqual(["event: message"]);
    stream.cut();
  });
});

describe("an answer that fails on the way", () => {
  it("[HTTP-28] an answer that fails is cut, not completed, so that the client resumes by its last id", async () => {
    let broken = false;
    const store = {
      ...t.store,
      read: (...args: Parameters<typeof t.store.read>) =>
        broken ? Promise.reject(new Error("the disk")) : t.store.read(...args),
    } as typeof t.store;
    await using failing = await startTestServer({ store });
    const id = await failing.newSession();
    const stream = await openStream(failing.url, `/api/sessions/${id}/stream`);
    await failing.post(id, "first");
    await stream.received(1);
    broken = true;
    await failing.post(id, "second");
    expect(await stream.ended).toBe(false);
    expect(failing.server.app.streams).toMatchObject({ open: 0, watched: 0 });
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}
