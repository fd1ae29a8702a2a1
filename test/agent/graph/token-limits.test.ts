import { ChatOpenAI } from "@langchain/openai";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { expect, it, onTestFinished } from "vitest";

import { openReprise } from "../../../src/library/open-reprise.ts";
import { createDatabase } from "../../helpers/database.ts";
import { clock } from "../../helpers/graphs.ts";
import { startModelServer } from "../../helpers/model-server.ts";

it("[BUDGET-6] a limit ends the graph of somebody else before the next request of its model", async () => {
  const server = await startModelServer({
    answer: (_, index) => ({
      toolCalls: [{ id: `call_${index}`, name: "clock", arguments: "{}" }],
      usage: { prompt_tokens: 90, completion_tokens: 10, total_tokens: 100 },
    }),
  });
  const { location } = await createDatabase();
  const reprise = await openReprise(location);
  onTestFinished(() => reprise.close());
  const { id } = await reprise.sessions.create({ token_limits: { exchange: 200 } });
  const { OPENAI_BASE_URL: baseURL = "", OPENAI_API_KEY: apiKey = "" } = server.env("openai");
  const model = new ChatOpenAI({ model: "gpt-test", apiKey, configuration: { baseURL } });
  const agent = createAgent({ name: "watch", tools: [clock], model });
  await expect(reprise.run(id, agent, "what time is it?")).rejects.toMatchObject({
    code: "budget_reached",
    message: expect.stringContaining("used 200 tokens of the 200"),
  });
  expect(server.requests()).toHaveLength(2);
  const session = await reprise.sessions.get(id);
  expect(session).toMatchObject({ total_input_tokens: 180, total_output_tokens: 20 });
  expect(session.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
  ]);
});

it("[GRAPH-47] [BUDGET-6] a limit holds for models that are called with other callbacks", async () => {
  const server = await startModelServer({
    answer: () => ({
      text: "again",
      usage: { prompt_tokens: 90, completion_tokens: 10, total_tokens: 100 },
    }),
  });
  const { location } = await createDatabase();
  const reprise = await openReprise(location);
  onTestFinished(() => reprise.close());
  const { id } = await reprise.sessions.create({ token_limits: { exchange: 200 } });
  const { OPENAI_BASE_URL: baseURL = "", OPENAI_API_KEY: apiKey = "" } = server.env("openai");
  const model = new ChatOpenAI({ model: "gpt-test", apiKey, configuration: { baseURL } });
  const forever = new StateGraph(MessagesAnnotation)
    .addNode("think", async ({ messages }) => ({
      messages: [await model.invoke(messages, { callbacks: [] })],
    }))
    .addEdge(START, "think")
    .addEdge("think", "think")
    .compile();
  await expect(reprise.run(id, forever, "think")).rejects.toMatchObject({
    code: "budget_reached",
  });
  expect(server.requests()).toHaveLength(2);
});
