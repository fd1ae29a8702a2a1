import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import { createGraphRunner } from "../../src/agent/graph/graph-runner.ts";
import { type ErrorCode, RepriseError } from "../../src/core/errors.ts";
import { startDispatcher } from "../../src/exchange/nodes/dispatcher.ts";
import type { Exchanger } from "../../src/exchange/exchanger.ts";
import { releaseLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange, openExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { readDetail } from "../../src/store/records/messages/read.ts";
import { readFailures } from "../../src/store/records/sessions/failures.ts";
import { readSession } from "../../src/store/records/sessions/read.ts";
import type { Store } from "../../src/store/store.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { type Bench, openBench } from "../helpers/exchanger.ts";
import { echo } from "../helpers/graphs.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { queue, statesOf } from "../helpers/queue.ts";

const PREVENTED = [
  "database_unavailable",
  "database_locked",
  "database_full",
  "database_readonly",
  "descriptors_exhausted",
  "config_invalid",
] as const satisfies readonly ErrorCode[];

/** The database is away once an exchange has begun, until its lease was to be released once more than this. */
function failing(store: Store, code: ErrorCode, releases: number): Store {
  let left = releases;
  let isAway = true;
  return {
    ...store,
    write: async (operation, input) => {
      isAway &&= !Object.is(operation, releaseLease) || left-- > 0;
      const isBeginning = [openExchange, beginExchange].some((each) => Object.is(each, operation));
      if (isAway && !isBeginning) {
        throw new RepriseError(code, "away");
      }
      return store.write(operation, input);
    },
  };
}

function builtIn(bench: Bench, code: ErrorCode, releases = 0): Exchanger {
  return createExchanger({ ...bench.parts, store: failing(bench.store, code, releases) });
}

function ofGraph(bench: Bench, code: ErrorCode): Exchanger {
  const store = failing(bench.store, code, 0);
  const run = createGraphRunner({ store, owner: bench.parts.owner });
  return {
    exchange: ({ text, keep_partial: _, ...request }, live) =>
      run({ ...request, agent: { graph: echo().compile(), name: "echo" }, input: text }, live),
    compact: () => Promise.reject(new Error("not asked for")),
    contextUse: () => Promise.resolve(null),
  };
}

interface Service {
  readonly exchanger: Exchanger;
  readonly agent?: string;
}

/** Runs what is queued until it has ended, and returns the codes of what prevented that. */
async function serve({ store, session }: Bench, service: Service): Promise<unknown[]> {
  const failures: unknown[] = [];
  const dispatcher = startDispatcher({
    store,
    jobs: 2,
    openExchanger: () => Promise.resolve(service.exchanger),
    agent: service.agent ?? null,
    serves: () => Promise.resolve(true),
    pollMs: 20,
    onFailure: (error) => {
      failures.push(error instanceof RepriseError ? error.code : error);
      // what a node lacks is tried again when all is read again
      dispatcher.rescan();
    },
  });
  onTestFinished(() => dispatcher.close());
  const isOver = (states: readonly string[]) => states.every((state) => ENDED.has(state));
  while (!isOver(await statesOf(store, session.id))) {
    await sleep(10);
  }
  return failures;
}

const ENDED: ReadonlySet<string> = new Set(["done", "failed", "stopped", "interrupted"]);

const DONE = { state: "done", attempts: 0, error_code: null };

function records(store: Store) {
  const columns = ["n", "state", "attempts", "error_code"] as const;
  return store.read(({ db }) => db.selectFrom("exchanges").select(columns).execute(), null);
}

async function expectAnswered({ store, session }: Bench, answer: string): Promise<void> {
  expect(await records(store)).toEqual([{ n: 1, ...DONE }]);
  const { messages } = await store.read(readDetail, { reference: session.id, all: true });
  expect(messages.map(({ content }) => content)).toEqual(["a question", answer]);
  expect(await store.read(readFailures, { ids: [session.id] })).toEqual(new Map());
  expect((await verifySession(store, session.id)).findings).toEqual([]);
}

describe.each(PREVENTED)("an exchange that %s prevents", (code) => {
  it("[QUEUE-19] [QUEUE-45] is given back by a service and continued", async () => {
    const server = await startModelServer({ answer: () => ({ content: "an answer" }) });
    const bench = await openBench(server);
    await queue(bench.store, bench.session.id, "a question");

    expect(await serve(bench, { exchanger: builtIn(bench, code) })).toEqual([code]);

    await expectAnswered(bench, "an answer");
  });

  it("[QUEUE-45] is given back by a service of another agent and continued", async () => {
    const server = await startModelServer({ answer: () => ({ content: "never asked" }) });
    const bench = await openBench(server);
    await queue(bench.store, bench.session.id, "a question");

    expect(await serve(bench, { exchanger: ofGraph(bench, code), agent: "echo" })).toEqual([code]);

    await expectAnswered(bench, "a question");
  });

  it("[EXCHANGE-41] is left interrupted by a terminal, and can be continued", async () => {
    const server = await startModelServer({ answer: () => ({ content: "an answer" }) });
    const bench = await openBench(server);
    const { store, session } = bench;
    const request = { session_id: session.id, text: "a question" };
    const live = { listener: () => undefined, signal: new AbortController().signal };

    await expect(builtIn(bench, code).exchange(request, live)).rejects.toMatchObject({ code });

    expect(await statesOf(store, session.id)).toEqual(["interrupted"]);
    expect(await store.read(readSession, { id: session.id })).toMatchObject({
      activity: "interrupted",
    });
    expect(await store.read(readFailures, { ids: [session.id] })).toEqual(new Map());
    expect(await bench.run({ text: null })).toMatchObject({ state: "done", answer: "an answer" });
    await expectAnswered(bench, "an answer");
  });
});

it("[QUEUE-45] is given back without an attempt, however long its lease cannot be released", async () => {
  const server = await startModelServer({ answer: () => ({ content: "an answer" }) });
  const bench = await openBench(server);
  await queue(bench.store, bench.session.id, "a question");

  const exchanger = builtIn(bench, "database_unavailable", 4);
  expect(await serve(bench, { exchanger })).toEqual(["database_unavailable"]);

  await expectAnswered(bench, "an answer");
});

it("[EXCHANGE-42] a sub-agent that the database prevents is continued, and no result of its parent's call", async () => {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      if (last?.content === "the task") {
        return { content: "done by the sub-agent" };
      }
      return last?.role === "tool"
        ? { content: `got: ${last.content}` }
        : { toolCalls: [{ name: "delegate", arguments: JSON.stringify({ task: "the task" }) }] };
    },
  });
  const bench = await openBench(server);
  const { store, session } = bench;
  await queue(store, session.id, "a question");
  let isAway = false;
  let isBack = false;
  const lost: Store = {
    ...store,
    write: async (operation, input) => {
      isBack ||= isAway && Object.is(operation, releaseLease);
      if (isAway && !isBack) {
        throw new RepriseError("database_unavailable", "away");
      }
      const output = await store.write(operation, input);
      // the second one to begin
      isAway ||= Object.is(operation, openExchange) && Object(input).session_id !== session.id;
      return output;
    },
  };

  const exchanger = createExchanger({ ...bench.parts, store: lost });
  expect(await serve(bench, { exchanger })).toEqual(["database_unavailable"]);

  const { messages } = await store.read(readDetail, { reference: session.id, all: true });
  expect(messages.at(-1)?.content).toBe("got: done by the sub-agent");
  expect(await records(store)).toEqual([
    { n: 1, ...DONE },
    { n: 1, ...DONE },
  ]);
});
