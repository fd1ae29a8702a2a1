import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import { newId } from "../../src/core/ids.ts";
import { startDispatcher } from "../../src/exchange/dispatcher.ts";
import { createTurn } from "../../src/exchange/turn.ts";
import { announceNode, withdrawNode } from "../../src/store/exchanges/nodes.ts";
import { releaseLease } from "../../src/store/leases/lease.ts";
import { openBench } from "../helpers/exchanger.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { claimNext, queue, statesOf } from "../helpers/queue.ts";

it("[CLI-220] a message that waits for its turn does not skip what a node has given back", async () => {
  const server = await startModelServer({
    answer: (messages) => ({ content: `to ${messages.at(-1)?.content} ${"x".repeat(200)}` }),
    latencyMs: 20,
  });
  const bench = await openBench(server);
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
  while (server.requests().length === 0) {
    await sleep(10);
  }
  const waiting = Promise.withResolvers<void>();
  const reads = store.read.bind(store);
  const typed = createExchanger({
    ...bench.parts,
    store: {
      ...store,
      read: (operation, input) => {
        if (operation.name === "isLeftToNodes") {
          waiting.resolve();
        }
        return reads(operation, input);
      },
    },
  }).exchange(
    { session_id: session.id, text: "typed", when_busy: "wait" },
    { listener: () => undefined, signal: new AbortController().signal },
  );
  await waiting.promise;
  await first.close();
  expect(await statesOf(store, session.id)).toEqual(["queued"]);
  start();
  await typed;
  expect(await statesOf(store, session.id)).toEqual(["done", "done"]);
});

it("[CLI-220] without a node that continues the exchange, the message skips it after a time", async () => {
  const server = await startModelServer({ answer: () => ({ content: "" }) });
  const { store, session } = await openBench(server);
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
