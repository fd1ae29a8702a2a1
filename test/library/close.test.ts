import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";

import { openReprise } from "../../src/library/open-reprise.ts";
import { createDatabase } from "../helpers/database.ts";

it("[LEASE-4] a session is free in the same process after the database was closed during a run", async () => {
  await using database = await createDatabase();
  const began = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", async () => {
      began.resolve();
      await closed.promise;
      return { messages: [new AIMessage("an answer")] };
    })
    .addEdge(START, "answer")
    .compile();
  const first = await openReprise(database.location);
  const { id } = await first.sessions.create();
  const run = Promise.allSettled([first.run(id, graph, "a question")]);
  await began.promise;
  await first.close();
  closed.resolve();
  expect(await run).toMatchObject([{ status: "rejected", reason: { code: "shutting_down" } }]);

  await using second = await openReprise(database.location);
  expect(await second.run(id, graph, null)).toMatchObject({ state: "done", answer: "an answer" });
});
