import http from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Client, createClient } from "../../src/client/client.ts";
import { ClientError } from "../../src/client/client-error.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let client: Client;
beforeAll(async () => {
  t = await startTestServer({ token: "the-token" });
  client = createClient({ baseUrl: `${t.url}/`, token: "the-token" });
});
afterAll(() => t[Symbol.asyncDispose]());

describe("the client", () => {
  it("[HTTP-47] makes the six calls", async () => {
    const session = await client.createSession({ persona_name: "p", model_override: "m" });
    expect(session).toMatchObject({ persona_name: "p", model: "m", state: "active" });
    expect(await client.createSession()).toMatchObject({ persona_name: null });
    expect(await client.postMessage(session.id, "hello")).toMatchObject({ seq: 1, title: "hello" });
    const detail = await client.getSession(session.id.slice(0, 8), { all: true, before_seq: 2 });
    expect(detail.messages).toMatchObject([{ content: "hello" }]);
    const page = await client.listSessions({ limit: 1, state: "active" });
    expect(page.sessions).toMatchObject([{ id: session.id }]);
    const rest = await client.listSessions({ limit: 1, state: "active", cursor: page.next ?? "" });
    expect(rest.sessions).toHaveLength(1);
    expect(rest.next).toBeNull();
    expect(await client.endSession(session.id)).toMatchObject({ state: "ended" });
    const contents: string[] = [];
    for await (const { content } of client.followSession(session.id)) {
      contents.push(content);
    }
    expect(contents).toEqual(["hello"]);
  });

  it("[HTTP-47] stores a message once when a call with a key is repeated", async () => {
    const { id } = await client.createSession();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await client.postMessage(id, "x", { idempotencyKey: "k" })).toMatchObject({ seq: 1 });
    }
  });

  it("[HTTP-47] throws the service's codes, `faults` and candidates", async () => {
    const missing = client.getSession("ffffffff");
    await expect(missing).rejects.toBeInstanceOf(ClientError);
    await expect(missing).rejects.toMatchObject({ code: "session_not_found", status: 404 });
    await expect(client.listSessions({ limit: 0 })).rejects.toMatchObject({
      code: "invalid_request",
      faults: [{ pointer: "/limit" }],
    });
    const { id } = await client.createSession();
    await client.endSession(id);
    await expect(client.postMessage(id, "x")).rejects.toMatchObject({ code: "session_ended" });
    const stranger = createClient({ baseUrl: t.url });
    await expect(stranger.createSession()).rejects.toMatchObject({
      code: "unauthorized",
      status: 401,
    });
    for (const odd of ["../x", "a/b", "?", "#"]) {
      await expect(client.getSession(odd)).rejects.toMatchObject({ code: "session_not_found" });
    }
  });

  it("[HTTP-47] reports unreachable if nobody answers, and bad_answer if another program does", async () => {
    const nobody = createClient({ baseUrl: "http://127.0.0.1:1" });
    await expect(nobody.listSessions()).rejects.toMatchObject({ code: "unreachable", status: 0 });
    const other = http.createServer((request, response) => {
      response.statusCode = request.url === "/api/sessions" ? 200 : 404;
      response.end("<html>");
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const confused = createClient({ baseUrl: `http://127.0.0.1:${port}` });
    await expect(confused.listSessions()).rejects.toMatchObject({
      code: "bad_answer",
      status: 200,
    });
    await expect(confused.getSession("x")).rejects.toMatchObject({
      code: "bad_answer",
      status: 404,
    });
    await expect(confused.followSession("x").next()).rejects.toMatchObject({ code: "bad_answer" });
    other.close();
  });
});
