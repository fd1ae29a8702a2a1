import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../src/entries/langgraph.ts";
import { openReprise } from "../../src/library/open-reprise.ts";
import { createDatabase } from "../helpers/database.ts";
import { createPostgres } from "../helpers/postgres.ts";

/** Text that does not compress, so that PostgreSQL's index gets all of it. */
const LONG_ID = Array.from({ length: 4000 }, (_, index) =>
  String.fromCodePoint(33 + ((index * 7919 + ((index * index) % 8191)) % 90)),
).join("");

it("[SAVER-51] an id of a message that is too long for PostgreSQL is refused", async () => {
  await using database = await createPostgres();
  await using reprise = await openReprise(database.url);
  const graphOf = (id: string) =>
    new StateGraph(MessagesAnnotation)
      .addNode("answer", () => ({ messages: [new AIMessage({ id, content: "an answer" })] }))
      .addEdge(START, "answer")
      .compile();
  const refused = { code: "invalid_request", message: expect.stringContaining("2,600 bytes") };
  const { id: users } = await reprise.sessions.create();
  const message = new HumanMessage({ id: LONG_ID, content: "a question" });
  await expect(reprise.run(users, graphOf("short"), message)).rejects.toMatchObject(refused);
  const { id: agents } = await reprise.sessions.create();
  const failed = reprise.run(agents, graphOf(LONG_ID), "a question");
  await expect(failed).rejects.toMatchObject(refused);
  expect(await reprise.run(agents, graphOf("short"), "another")).toMatchObject({ state: "done" });
});

it("[SAVER-51] a value that is nested too deeply is refused as such", async () => {
  await using database = await createDatabase();
  await using saver = new RepriseSaver(database.location);
  let value: unknown = "x";
  for (let depth = 0; depth < 100_000; depth += 1) {
    value = [value];
  }
  const checkpoint = {
    ...emptyCheckpoint(),
    channel_values: { value },
    channel_versions: { value: 1 },
  };
  const config = { configurable: { thread_id: "thread", checkpoint_ns: "" } };
  const metadata = { source: "input", step: -1, parents: {} } as const;
  await expect(saver.put(config, checkpoint, metadata, { value: 1 })).rejects.toMatchObject({
    code: "agent_failed",
    message: expect.stringContaining("nested too deeply"),
  });
  expect(await saver.getTuple(config)).toBeUndefined();
});
