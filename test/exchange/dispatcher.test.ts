import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { RepriseError } from "../../src/core/errors.ts";
import { createExchanger } from "../../src/agent/exchange.ts";
import { type DispatcherOptions, startDispatcher } from "../../src/exchange/dispatcher.ts";
import { withdrawQueued, changeQueued, stopExchange } from "../../src/store/exchanges/change.ts";
import { queueExchange } from "../../src/store/exchanges/queue.ts";
import { readReady } from "../../src/store/exchanges/ready.ts";
import { listExchanges } from "../../src/store/exchanges/read.ts";
import { releaseLease, takeLease } from "../../src/store/leases/lease.ts";
import { thisProcess } from "../../src/store/leases/this-process.ts";
import { openExchange } from "../../src/store/messages/begin-exchange.ts";
import { createSession } from "../../src/store/sessions/create.ts";
import type { Store } from "../../src/store/store.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { type Bench, openBench } from "../helpers/exchanger.ts";
import { startModelServer } from "../helpers/model-server.ts";

const CALLER = { origin: "http", authenticated: true } as const;

function queue(store: Store, reference: string, content: string | null) {
  return store.write(queueExchange, { reference, content, asked_by: "http", caller: CALLER });
}

function dispatch(bench: Bench, options: Partial<DispatcherOptions> = {}) {
  const dispatcher = startDispatcher({
    store: bench.store,
    jobs: 2,
    openExchanger: () => Promise.resolve(createExchanger(bench.parts)),
    serves: () => Promise.resolve(true),
    pollMs: 20,
    onFailure: (error) => {
      throw error;
    },
    ...options,
  });
  onTestFinished(() => dispatcher.close());
  return dispatcher;
}

async function statesOf(store: Store, reference: string): Promise<string[]> {
  const records = await store.read(listExchanges, { reference, limit: 100 });
  return records.toReversed().map(({ state }) => state);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await sleep(10);
  }
}

it("queued messages are answered in order, one exchange for each, in several sessions at once", async () => {
  const server = await startModelServer({
    answer: (messages) => ({ content: `to ${messages.at(-1)?.content}` }),
  });
  const bench = await openBench(server);
  const { store, session } = bench;
  const other = await store.write(createSession, {});
  for (const text of ["one", "two", "three"]) {
    await queue(store, session.id, text);
    await queue(store, other.id, text);
  }
  expect(await statesOf(store, session.id)).toEqual(["queued", "queued", "queued"]);
  const waiting = await store.read(readReady, { limit: 10, after: null });
  expect(waiting.map(({ id }) => id)).toEqual([session.id, other.id]);
  const second = dispatch(bench);
  dispatch(bench);
  await until(async () => (await statesOf(store, session.id)).every((state) => state === "done"));
  await until(async () => (await statesOf(store, other.id)).every((state) => state === "done"));
  await second.close();
  expect(server.requests()).toHaveLength(6);
  for (const id of [session.id, other.id]) {
    expect((await verifySession(store, id)).findings).toEqual([]);
    const { messages } = await bench.store.read(
      (await import("../../src/store/messages/read.ts")).readDetail,
      { reference: id, all: false },
    );
    expect(messages.map(({ content }) => content)).toEqual([
      "one",
      "to one",
      "two",
      "to two",
      "three",
      "to three",
    ]);
  }
  expect(await store.read(readReady, { limit: 10, after: null })).toEqual([]);
});

it("[CLI-180] sessions take turns, the one that has waited longest first", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const other = await store.write(createSession, {});
  for (const text of ["a1", "a2", "a3"]) {
    await queue(store, session.id, text);
  }
  await queue(store, other.id, "b1");
  dispatch(bench, { jobs: 1 });
  await until(async () => (await statesOf(store, session.id))[2] === "done");
  const asked = server.requests().map((messages) => messages.at(-1)?.content);
  expect(asked).toEqual(["a1", "b1", "a2", "a3"]);
});

it("what has not begun can be changed, withdrawn and stopped", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const reference = session.id;
  await queue(store, reference, "one");
  await queue(store, reference, "two");
  await queue(store, reference, "three");
  await store.write(changeQueued, { reference, n: 1, content: "first" });
  await store.write(withdrawQueued, { reference, n: 2 });
  await store.write(stopExchange, { reference, n: 3 });
  dispatch(bench);
  await until(async () => (await statesOf(store, reference))[0] === "done");
  expect(await statesOf(store, reference)).toEqual(["done", "stopped", "stopped"]);
  expect(server.requests().map((messages) => messages.at(-1)?.content)).toEqual(["first"]);
  await expect(store.write(stopExchange, { reference, n: 1 })).rejects.toMatchObject({
    code: "exchange_ended",
  });
  await expect(store.write(changeQueued, { reference, n: 1, content: "x" })).rejects.toMatchObject({
    code: "exchange_begun",
  });
});

it("an exchange that runs stops when it is asked to, and keeps the text that had arrived", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await startModelServer({
    latencyMs: 50,
    chunkSize: 4,
    answer: () => {
      arrived.resolve();
      return { content: "word ".repeat(1000) };
    },
  });
  const bench = await openBench(server);
  const { store, session } = bench;
  await queue(store, session.id, "a question");
  dispatch(bench);
  await arrived.promise;
  await sleep(300);
  await store.write(stopExchange, { reference: session.id, n: 1 });
  await until(async () => (await statesOf(store, session.id))[0] === "stopped");
  const [record] = await store.read(listExchanges, { reference: session.id, limit: 1 });
  expect(record).toMatchObject({ first_seq: 1, last_seq: 2 });
});

it("a node that stops gives back what it runs, and another one continues it", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await startModelServer({
    latencyMs: 20,
    chunkSize: 4,
    answer: (_, index) => {
      arrived.resolve();
      return { content: index === 0 ? "word ".repeat(200) : "the answer" };
    },
  });
  const bench = await openBench(server);
  const { store, session } = bench;
  await queue(store, session.id, "a question");
  const first = dispatch(bench);
  await arrived.promise;
  await sleep(100);
  await first.close();
  expect(await statesOf(store, session.id)).toEqual(["queued"]);
  dispatch(bench);
  await until(async () => (await statesOf(store, session.id))[0] === "done");
  const [record] = await store.read(listExchanges, { reference: session.id, limit: 1 });
  expect(record).toMatchObject({ n: 1, state: "done", first_seq: 1, last_seq: 2 });
  expect((await verifySession(store, session.id)).findings).toEqual([]);
});

it("a session that somebody has without an exchange is not asked for again at once", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const held = await store.write(takeLease, {
    session_id: session.id,
    owner: thisProcess("test"),
    life_ms: 600_000,
  });
  await queue(store, session.id, "a question");
  let attempts = 0;
  const counting: Store = {
    ...store,
    write: (operation, input) => {
      attempts += Object.is(operation, openExchange) ? 1 : 0;
      return store.write(operation, input);
    },
  };
  const parts = { ...bench.parts, store: counting };
  const first = dispatch({ ...bench, parts, store: counting }, { pollMs: 600_000 });
  await until(() => Promise.resolve(attempts > 0));
  await sleep(300);
  // the lease is asked for once more if its holder could be dead
  expect(attempts).toBeLessThanOrEqual(2);
  expect(await statesOf(store, session.id)).toEqual(["queued"]);
  await first.close();
  await store.write(releaseLease, { fence: held, finished: false, end: null });
  dispatch(bench);
  await until(async () => (await statesOf(store, session.id))[0] === "done");
});

it("an exchange is tried again if the database is away for a moment", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answered" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  await queue(store, session.id, "a question");
  let failures = 0;
  const failing: Store = {
    ...store,
    write: (operation, input) =>
      Object.is(operation, openExchange) && (failures += 1) < 3
        ? Promise.reject(new RepriseError("database_unavailable", "The database is away."))
        : store.write(operation, input),
  };
  dispatch({ ...bench, parts: { ...bench.parts, store: failing } });
  await until(async () => (await statesOf(store, session.id))[0] === "done");
  expect(failures).toBe(3);
  expect(server.requests()).toHaveLength(1);
});
