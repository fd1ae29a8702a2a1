import { setTimeout as sleep } from "node:timers/promises";

import { tool } from "@langchain/core/tools";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

import { createExchanger } from "../../src/agent/exchange.ts";
import { newId } from "../../src/core/ids.ts";
import { startDispatcher } from "../../src/exchange/nodes/dispatcher.ts";
import { createTurn } from "../../src/exchange/turn.ts";
import { announceNode, withdrawNode } from "../../src/store/records/exchanges/nodes.ts";
import { readLease, releaseLease } from "../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../src/store/records/leases/this-process.ts";
import { openExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { listOpenQuestions } from "../../src/store/records/questions/read.ts";
import type { Store } from "../../src/store/store.ts";
import { type Bench, openBench } from "../helpers/exchanger.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { claimNext, queue, statesOf } from "../helpers/queue.ts";

/** An agent whose first answer calls these tools beside one that is held until it is released. */
async function holding(...toolCalls: readonly { name: string; arguments: string }[]) {
  const held = Promise.withResolvers<string>();
  const server = await startModelServer({
    answer: (_messages, index) =>
      index === 0
        ? { toolCalls: [{ name: "hold", arguments: "{}" }, ...toolCalls] }
        : { content: "an answer" },
  });
  const hold = tool(() => held.promise, {
    name: "hold",
    description: "Waits.",
    schema: z.object({}),
  });
  const bench = await openBench(server, {}, { programTools: [hold] });
  return {
    ...bench,
    release: () => held.resolve("held"),
    hasBegun: async () => {
      while (server.requests().length === 0) {
        await sleep(10);
      }
    },
  };
}

/** Sends a message that waits for its turn, and returns once it has found the session busy. */
async function sendWaiting({ parts, store, session }: Bench) {
  const isWaiting = Promise.withResolvers<void>();
  const watched: Store = {
    ...store,
    read: (operation, input) => {
      if (Object.is(operation, readLease)) {
        isWaiting.resolve();
      }
      return store.read(operation, input);
    },
  };
  const sent = createExchanger({ ...parts, store: watched }).exchange(
    { session_id: session.id, text: "typed", when_busy: "wait" },
    { listener: () => undefined, signal: new AbortController().signal },
  );
  sent.catch(() => undefined);
  await isWaiting.promise;
  return { sent };
}

it("[CLI-220] a message that waits for its turn does not skip what a node has given back", async () => {
  const bench = await holding();
  const { store, session } = bench;
  const start = () => {
    const dispatcher = startDispatcher({
      store,
      jobs: 1,
      openExchanger: () => Promise.resolve(createExchanger(bench.parts)),
      serves: () => Promise.resolve(true),
      pollMs: 20,
      onFailure: (error) => {
        throw error;
      },
    });
    onTestFinished(() => dispatcher.close());
    return dispatcher;
  };
  const first = start();
  await queue(store, session.id, "posted");
  await bench.hasBegun();
  const { sent } = await sendWaiting(bench);
  const closed = first.close();
  bench.release();
  await closed;
  expect(await statesOf(store, session.id)).toEqual(["queued"]);
  start();
  expect((await sent).state).toBe("done");
  expect(await statesOf(store, session.id)).toEqual(["done", "done"]);
});

it("[CLI-220] without a node that continues the exchange, the message skips it after a time", async () => {
  const { store, session } = await holding();
  await queue(store, session.id, "posted");
  const fence = await claimNext(store, session.id);
  await store.write(releaseLease, { fence, finished: false, end: "queued" });
  const turn = createTurn({ store, session_id: session.id, patienceMs: 0 });
  const node = { id: newId(), agent: null, folders: { within: ["/"] } };
  await store.write(announceNode, node);
  await expect(turn()).rejects.toMatchObject({ code: "session_busy" });
  await store.write(withdrawNode, node);
  await turn();
  const patient = createTurn({ store, session_id: session.id });
  await expect(patient()).rejects.toMatchObject({ code: "session_busy" });
});

it("[CLI-221] a message that waits for its turn is refused once the exchange before it asks a person", async () => {
  const bench = await holding({ name: "ask_user", arguments: '{"question":"Which?"}' });
  const { store, session } = bench;
  const asking = bench.run({ text: "first" });
  await bench.hasBegun();
  const { sent } = await sendWaiting(bench);
  bench.release();
  expect((await asking).state).toBe("waiting");
  await expect(sent).rejects.toMatchObject({ code: "question_open" });
  expect(await store.read(listOpenQuestions, { reference: session.id })).toHaveLength(1);
  expect(await statesOf(store, session.id)).toEqual(["waiting"]);
});

it("[CLI-221] so is one that had found the session busy and comes again once the exchange has asked", async () => {
  const { store, session, parts, run, release } = await holding({
    name: "ask_user",
    arguments: '{"question":"Which?"}',
  });
  release();
  expect((await run({ text: "first" })).state).toBe("waiting");
  const request = { session_id: session.id, text: "typed", when_busy: "wait" } as const;
  const live = { listener: () => undefined, signal: new AbortController().signal };
  await expect(
    createExchanger(parts).exchange({ ...request, has_waited: true }, live),
  ).rejects.toMatchObject({ code: "question_open" });
  const open = { has_waited: true, owner: thisProcess("a test"), life_ms: 60_000, begin: null };
  await expect(
    store.write(openExchange, { session_id: session.id, ...open }),
  ).rejects.toMatchObject({ code: "question_open" });
  expect(await store.read(listOpenQuestions, { reference: session.id })).toHaveLength(1);
  expect(await statesOf(store, session.id)).toEqual(["waiting"]);
  // nobody holds the lease, and a message that did not wait withdraws the question
  expect((await createExchanger(parts).exchange(request, live)).state).toBe("done");
});
