import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";

import { openReprise } from "../../../src/library/open-reprise.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { callProgram } from "../../helpers/call-program.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { answerRun, phase, PlanBench, phaseIn, storeRun } from "../../helpers/plan-bench.ts";
import { startTestServer } from "../../helpers/server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const TOKEN = "a-token";

/** A run that waits for approval, in a database with a service that runs no exchanges. */
async function waitingRun() {
  const models = await startModelServer({
    answer: (messages) => ({ content: `what ${phaseIn(messages)} has left` }),
  });
  const server = await startTestServer({ token: TOKEN });
  const bench = new PlanBench(server.store, models.env("openai"));
  const phases = [phase("first"), phase("second", ["first"])];
  const { id } = await storeRun({ store: server.store, phases, options: { approve: ["second"] } });
  expect((await bench.run(id)).state).toBe("waiting");
  return { models, server, bench, id };
}

it("[PLANRUN-35] [PLANRUN-9] a message is refused by the queue, the chat routes, the command line and a program, and changes nothing", async () => {
  const { models, server, bench, id } = await waitingRun();
  await using _server = server;
  const post = (path: string, body: unknown) =>
    server.call("POST", `/api/sessions/${id}/${path}`, {
      body,
      headers: { authorization: `Bearer ${TOKEN}` },
    });
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] };
  const agUi = { id: "m2", role: "user", content: "hello" };
  const input = { threadId: id, runId: "r", state: {}, tools: [], context: [], forwardedProps: {} };
  const refused = { status: 409, json: { code: "run_takes_no_message" } };
  expect(await post("exchanges", { content: "hello" })).toMatchObject(refused);
  expect(await post("exchanges", { content: "hello", supersede: true })).toMatchObject(refused);
  const chat = { id, trigger: "submit-message", messages: [message] };
  expect(await post("ui/ai-sdk", chat)).toMatchObject(refused);
  expect(await post("ui/ag-ui", { ...input, messages: [agUi] })).toMatchObject(refused);
  const cwd = temporaryFolder();
  const env = { HOME: temporaryFolder(), REPRISE_DATABASE: server.path };
  const reprise = (...args: string[]) =>
    callProgram(args, { script: "reprise", cwd, env: { ...env, REPRISE_MODEL: "demo" } });
  for (const args of [
    ["--session", id, "-p", "hello"],
    ["--session", id],
    ["sessions", "resume", id],
    ["send", id, "hello"],
    ["send", id, "hello", "--supersede"],
  ]) {
    const { code, stderr } = await reprise(...args);
    expect([args, code, stderr]).toEqual([
      args,
      2,
      expect.stringContaining("[run_takes_no_message]"),
    ]);
  }
  // the last conversation of the folder is none of a run
  expect((await reprise("--continue", "-p", "hello")).code).toBe(3);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: [new AIMessage("an answer")] }))
    .addEdge(START, "answer")
    .compile();
  await using program = await openReprise(server.path);
  await expect(program.run(id, graph, "hello")).rejects.toMatchObject(refused.json);
  await expect(bench.send(id, "hello")).rejects.toMatchObject(refused.json);
  const { messages } = await server.store.read(readDetail, { reference: id, all: true });
  expect(messages.map(({ content }) => content)).toEqual(["Run the plan."]);
  expect(await server.store.read(listOpenQuestions, { reference: id })).toHaveLength(1);
  expect(models.requests()).toHaveLength(1);
});

it("[PLANRUN-36] a message that is stored for it is asked about by nobody, reaches no model, and begins no exchange", async () => {
  const { models, server, bench, id } = await waitingRun();
  await using _server = server;
  const { store } = server;
  const path = `/api/sessions/${id}/messages`;
  const headers = { authorization: `Bearer ${TOKEN}` };
  const stored = await server.call("POST", path, { body: { content: "a remark" }, headers });
  expect(stored.status).toBe(201);
  const [question] = await store.read(listOpenQuestions, { reference: id });
  await answerRun(store, question!, { choice: "approve" });
  expect((await bench.run(id)).state).toBe("done");
  expect(JSON.stringify(models.requests())).not.toContain("a remark");
  const after = await server.call("POST", path, { body: { content: "one more" }, headers });
  expect(after.status).toBe(201);
  await expect(bench.run(id)).rejects.toMatchObject({ code: "nothing_to_continue" });
  const again = `/api/sessions/${id}/exchanges`;
  expect(await server.call("POST", again, { body: {}, headers })).toMatchObject({
    status: 409,
    json: { code: "nothing_to_continue" },
  });
  expect(await store.read(readRun, { reference: id })).toMatchObject({
    exchange: { n: 1, state: "done" },
  });
  expect((await verifySession(store, id)).findings).toEqual([]);
});
