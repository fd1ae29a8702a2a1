import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { sql } from "kysely";
import { expect } from "vitest";

import { OUTCOME_UNKNOWN } from "../../src/core/text/outcome-unknown.ts";
import { queueExchange } from "../../src/store/records/exchanges/queue.ts";
import { readExchange } from "../../src/store/records/exchanges/read.ts";
import { readDetail } from "../../src/store/records/messages/read.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngines, oneEngineEach } from "../helpers/engines.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import type { Running } from "../helpers/process.ts";
import { TABLES } from "../helpers/sessions/stored.ts";
import { startProgram } from "../helpers/start-program.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { expectVerified } from "../helpers/verified.ts";
import { freezeAtRest } from "./exchanges/frozen.ts";
import { tokenHolder } from "../../src/core/principal.ts";

/** A lease that runs out while a node is frozen, and is renewed in time by one that is not. */
const LEASE_MS = 3000;
const LONG = "word ".repeat(2000);

const onOneEngine = oneEngineEach("frozen-nodes");

describeEngines("a node that is frozen for two leases", (engine) => {
  const it = onOneEngine(engine);

  it("writes nothing if it was calling the model", async () => {
    const { store, start, ask, freezeTwice } = await openBench((_, index) => ({
      content: index === 0 ? LONG : "the answer",
    }));
    const first = await start();
    const { asked, finished } = await ask("a question");
    await until(() => asked.length === 1);
    await freezeTwice(first, start);
    await finished();
    await expectUnchanged(store, first);
    expect(asked).toHaveLength(2);
    expect(await messagesOf(store)).toEqual(["a question", "the answer"]);
  });

  it("writes nothing if it was running an unsafe tool, which is not run again", async () => {
    const { store, start, ask, effects, freezeTwice } = await openBench((messages) =>
      messages.at(-1)?.role === "tool"
        ? { content: "the answer" }
        : { toolCalls: [{ id: "call", name: "pay", arguments: '{"what":"it"}' }] },
    );
    const first = await start(1_000_000_000);
    const { asked, finished } = await ask("a question");
    await until(() => asked.length === 1);
    await first.waitFor(/running pay/);
    await freezeTwice(first, start);
    await finished();
    await expectUnchanged(store, first);
    expect(readFileSync(effects, "utf8")).toBe("");
    expect(asked).toHaveLength(2);
    expect(await messagesOf(store)).toEqual(["a question", "", OUTCOME_UNKNOWN, "the answer"]);
  });

  it("writes nothing if its sub-agent was calling the model", async () => {
    const { store, start, ask, freezeTwice } = await openBench((messages, index) => {
      const last = messages.at(-1);
      if (last?.role === "user" && last.content === "a question") {
        const task = JSON.stringify({ persona: "assistant", task: "a task" });
        return { toolCalls: [{ id: "call", name: "delegate", arguments: task }] };
      }
      return { content: last?.role === "tool" ? "the answer" : index === 1 ? LONG : "found it" };
    });
    const first = await start();
    const { asked, finished } = await ask("a question");
    await until(() => asked.length === 2);
    await freezeTwice(first, start);
    await finished();
    await expectUnchanged(store, first);
    expect(asked).toHaveLength(4);
    expect(await messagesOf(store)).toEqual(["a question", "", "found it", "the answer"]);
  });

  async function openBench(
    answer: (messages: readonly SentMessage[], index: number) => ModelAnswer,
  ) {
    const { location, open } = await engine.create();
    const store = await open();
    const repo_path = temporaryFolder();
    const { id } = await store.write(createSession, { repo_path, permission: "all" });
    const effects = join(temporaryFolder(), "effects");
    writeFileSync(effects, "");
    const asked: (readonly SentMessage[])[] = [];
    const server = await startModelServer({
      latencyMs: 20,
      chunkSize: 8,
      answer: (messages) => answer(messages, asked.push(messages) - 1),
    });
    const start = async (toolMs = 0): Promise<Running> => {
      const options = { name: "node", effects, token: "a-token", arm: "", leaseMs: LEASE_MS };
      const args = [location, JSON.stringify({ ...options, toolMs })];
      const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
      const node = startProgram("queue-node.ts", args, { env });
      await node.waitFor(/listening/);
      return node;
    };
    return {
      store,
      effects,
      start,
      ask: async (content: string) => {
        const principal = tokenHolder("owner");
        await store.write(queueExchange, { reference: id, content, asked_by: "http", principal });
        const finished = async () => {
          await until(async () => (await readFirst(store, id)).ended_at !== null);
          expect(await readFirst(store, id)).toMatchObject({ state: "done" });
          await expectVerified(location, id);
        };
        return { asked, finished };
      },
      /** Another node finishes the exchange meanwhile. */
      freezeTwice: async (node: Running, startOther: () => Promise<Running>) => {
        await sleep(100);
        await freezeAtRest(store, location, node);
        await Promise.all([sleep(2 * LEASE_MS), startOther()]);
      },
    };
  }
});

/** Lets the frozen node continue, for long enough to do what it was about to do. */
async function expectUnchanged(store: Store, node: Running): Promise<void> {
  const before = await allRows(store);
  node.child.kill("SIGCONT");
  await sleep(LEASE_MS);
  expect(await allRows(store)).toEqual(before);
  const { stderr } = await node.stop();
  expect(stderr).toBe("");
}

function allRows(store: Store): Promise<readonly string[]> {
  return store.read(async ({ db }) => {
    const found: string[] = [];
    for (const table of [...TABLES, "exchanges"]) {
      const { rows } = await sql`SELECT * FROM ${sql.table(table)}`.execute(db);
      found.push(...rows.map((row) => `${table} ${JSON.stringify(row)}`).toSorted());
    }
    return found;
  }, null);
}

function readFirst(store: Store, reference: string) {
  return store.read(readExchange, { reference, n: 1 });
}

/** Of the root session. */
async function messagesOf(store: Store): Promise<readonly string[]> {
  const [root] = await store.read(
    ({ db }) =>
      db.selectFrom("sessions").select("id").where("parent_session_id", "is", null).execute(),
    null,
  );
  const { messages } = await store.read(readDetail, { reference: root?.id ?? "", all: true });
  return messages.map(({ content }) => content);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await sleep(20);
  }
}
