import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { createStrictClient, type OpenApi, type StrictClient } from "../helpers/strict-client.ts";

let t: TestServer;
let client: StrictClient;
beforeAll(async () => {
  t = await startTestServer();
  const { json: document } = await t.call<OpenApi>("GET", "/openapi.json");
  client = createStrictClient(document, t.url);
});
afterAll(() => t[Symbol.asyncDispose]());

/** The body of a checked answer, once its status is the expected one. */
async function expectStatus<T>(
  status: number,
  ...call: Parameters<StrictClient["call"]>
): Promise<T> {
  const answer = await client.call(...call);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer.body as T;
}

describe("a strict client made from the OpenAPI document", () => {
  it("[HTTP-46] understands every answer of the session routes", async () => {
    const { id } = await expectStatus<{ id: string }>(201, "createSession", {
      body: { persona_name: "assistant", model_override: "demo:echo", repo_path: "/nowhere" },
    });
    await expectStatus(201, "createSession", {});
    await expectStatus(422, "createSession", { body: { unknown: 1 } });
    const path = { id };
    await expectStatus(201, "postMessage", { path, body: { content: "hello" } });
    for (const status of [201, 201]) {
      await expectStatus(status, "postMessage", {
        path,
        body: { content: "again" },
        headers: { "idempotency-key": "k1" },
      });
    }
    await expectStatus(422, "postMessage", {
      path,
      body: { content: "other" },
      headers: { "idempotency-key": "k1" },
    });
    await expectStatus(422, "postMessage", { path, body: {} });
    const list = await expectStatus<object[]>(200, "listSessions", { query: { limit: "1" } });
    expect(list).toHaveLength(1);
    await expectStatus(422, "listSessions", { query: { limit: "0" } });
    await expectStatus(200, "getSession", { path, query: { all: "true" } });
    const { messages } = await expectStatus<{ messages: object[] }>(200, "getSession", { path });
    expect(messages).toHaveLength(2);
    const unknown = { id: "00000000-0000-4000-8000-000000000000" };
    await expectStatus(404, "getSession", { path: unknown });
    await expectStatus(404, "postMessage", { path: unknown, body: { content: "x" } });
    await expectStatus(404, "endSession", { path: unknown });
    await expectStatus(404, "streamSession", { path: unknown });
    await expectStatus(200, "endSession", { path });
    await expectStatus(200, "endSession", { path });
    await expectStatus(409, "postMessage", { path, body: { content: "late" } });
    await expectStatus(204, "streamSession", { path, query: { last_seq: "2" } });
  });

  it("[HTTP-46] understands every event of a stream", async () => {
    const id = await t.newSession();
    await t.post(id, "one");
    await t.post(id, "two");
    await t.call("POST", `/api/sessions/${id}/end`);
    const text = await expectStatus<string>(200, "streamSession", { path: { id } });
    const events = text.split("\n\n").filter((event) => event !== "" && event !== ":");
    expect(events).toHaveLength(2);
    for (const [index, event] of events.entries()) {
      const [, data = ""] =
        new RegExp(`^id: ${index + 1}\nevent: message\ndata: (.*)$`).exec(event) ?? [];
      client.check("MessageInfo", JSON.parse(data));
    }
  });

  it("[HTTP-46] understands what needs no session", async () => {
    for (const operation of ["listSchemas", "live", "ready", "describe", "metrics"]) {
      await expectStatus(200, operation);
    }
    const path = { group: "dev", name: "phase-plan@1" };
    await expectStatus(200, "getSchemaByPath", { path });
    await expectStatus(200, "getSchema", { path: { id: "dev/phase-plan@1" } });
    for (const text of ["{}", "no JSON"]) {
      await expectStatus(200, "validateArtifact", { body: { text } });
    }
  });
});

describe("what the command line prints for programs", () => {
  it("[CLI-19] [CLI-34] has the fields of the document, and no other", async () => {
    const home = freshHome();
    const exchange = await home.json<{ session_id: string; messages: object[] }>([
      "-p",
      "hello",
      "--json",
    ]);
    expect(Object.keys(exchange)).toEqual([
      "session_id",
      "thread_id",
      "persona_name",
      "model",
      "answer",
      "stopped",
      "usage",
      "cost_micros",
      "total_input_tokens",
      "total_output_tokens",
      "last_seq",
      "messages",
    ]);
    expect(exchange.messages).toHaveLength(2);
    for (const message of exchange.messages) {
      client.check("MessageInfo", message);
    }
    const list = await home.json<object[]>(["sessions", "list", "--json"]);
    expect(list).toHaveLength(1);
    client.check("SessionSummary", list[0]);
    const { session_id: id } = exchange;
    client.check("SessionDetail", await home.json(["sessions", "show", id, "--json"]));
    client.check("SessionAck", await home.json(["sessions", "end", id, "--json"]));
  });
});
