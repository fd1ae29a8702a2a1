import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { AIMessage } from "@langchain/core/messages";
import { Client } from "pg";
import { expect, it } from "vitest";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { createDatabase } from "../../helpers/database.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { copyInto, fixture, type State, statesOf } from "../../helpers/checkpoints/official.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

type Engine = "sqlite" | "postgres";

const EXPECTED = JSON.parse(fixture("states.json").toString()) as Readonly<Record<Engine, State[]>>;

/** By thread, as the official saver listed them. */
function expectedOf(engine: Engine): Map<string, State[]> {
  return Map.groupBy(EXPECTED[engine], ({ config }) =>
    (config as { configurable: { thread_id: string } }).configurable.thread_id.replace(/\.0$/, ""),
  );
}

it("[COPY-20] [COPY-29] takes over every state of SqliteSaver's file, in its order", async () => {
  const path = join(temporaryFolder(), "official.db");
  writeFileSync(path, fixture("sqlite.db"));
  await expectCopied(path, "sqlite");
});

it("[COPY-20] takes over every state of PostgresSaver's tables, in a schema that the address names", async () => {
  await using official = await createPostgres({ tables: false });
  const client = new Client({ connectionString: official.url });
  await client.connect();
  await client.query(
    `CREATE SCHEMA saver; SET search_path = saver; ${fixture("postgres.sql").toString()}`,
  );
  await client.end();
  await expectCopied(`${official.url}?options=-c%20search_path=saver`, "postgres");
});

async function expectCopied(from: string, engine: Engine): Promise<void> {
  await using database = await createDatabase();
  await using store = await openStoreAt(database.location);
  const threads = expectedOf(engine);
  const whole = { threads: threads.size, checkpoints: EXPECTED[engine].length };
  const none = { threads: 0, checkpoints: 0 };
  const report = await copyInto(store, from);
  expect(report).toMatchObject({ copied: whole, present: none, refused: [], changed: [] });
  const saver = createCheckpointSaver({ store });
  for (const [id, expected] of threads) {
    const states = await statesOf(saver, id);
    expect(states, id).toEqual(expectedAs(states, expected));
    expect(states.length, id).toBe(expected.length);
    const latest = await saver.getTuple({ configurable: { thread_id: id } });
    expect(latest?.checkpoint.id).toBe(latestId(expected));
  }
  expect(await copyInto(store, from)).toMatchObject({ copied: none, present: whole, refused: [] });
}

function latestId(states: readonly State[]): unknown {
  const root = states.find(({ config }) => JSON.stringify(config).includes('"checkpoint_ns":""'));
  return Reflect.get(root?.["checkpoint"] ?? {}, "id");
}

/**
 * What is expected of a state that is there: SqliteSaver stores a number as `42.0`, a message without
 * an id gets one here, and sends of an older version are not kept twice.
 */
function expectedAs(there: unknown, expected: unknown): unknown {
  if (!isRecord(expected) || !isRecord(there)) {
    return expected;
  }
  if (Array.isArray(expected)) {
    return expected.map((each, index) => expectedAs(Reflect.get(there, index), each));
  }
  const members = Object.entries(expected)
    .filter(([key]) => key !== "pending_sends")
    .filter(([key, value]) => Object.hasOwn(there, key) || !isUndefinedRecord(value))
    .map(([key, value]) =>
      key === "thread_id"
        ? [key, String(value).replace(/\.0$/, "")]
        : [key, expectedAs(there[key], value)],
    );
  const isWithoutId = "content" in expected && !("id" in expected) && "response_metadata" in there;
  return Object.fromEntries(isWithoutId ? [...members, ["id", there["id"]]] : members);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isUndefinedRecord(value: unknown): boolean {
  return isRecord(value) && value["lc"] === 2 && value["type"] === "undefined";
}

it("[COPY-20] continues a copied graph after its last step in LangGraph's saver", async () => {
  const path = join(temporaryFolder(), "official.db");
  writeFileSync(path, fixture("sqlite.db"));
  await using database = await createDatabase();
  await using store = await openStoreAt(database.location);
  await copyInto(store, path);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("ask", ({ messages }) => {
      const answer: unknown = interrupt({ question: "May I?", count: messages.length });
      return { messages: [new AIMessage({ id: "done", content: JSON.stringify(answer) })] };
    })
    .addNode("beside", () => ({ messages: [new AIMessage({ id: "beside", content: "again" })] }))
    .addEdge(START, "ask")
    .addEdge(START, "beside")
    .compile({ checkpointer: createCheckpointSaver({ store }) });
  const config = { configurable: { thread_id: "interrupted/täst 🙂" } };
  const { tasks } = await graph.getState(config);
  expect(tasks.map(({ name, interrupts }) => [name, interrupts.length])).toEqual([
    ["ask", 1],
    ["beside", 0],
  ]);
  const { messages } = await graph.invoke(new Command({ resume: "yes" }), config);
  // the finished task did not run again
  expect(messages.map(({ content }) => content)).toEqual(["go", '"yes"', "beside"]);
});
