import { afterAll, beforeAll, expect, it } from "vitest";

import { type Client, createClient } from "../../src/client/client.ts";
import type { ExchangeInfo, QueuedExchangeInfo } from "../../src/core/schemas/schemas.ts";
import { finishExchange } from "../../src/store/checkpoints/finish.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { statementsOf } from "../helpers/count-statements.ts";
import { ask, claimNext, expire, statesOf } from "../helpers/queue.ts";
import { type CallOptions, startTestServer, type TestServer } from "../helpers/server.ts";

const TOKEN = "a-token";
const MEBIBYTE = 1024 * 1024;

let t: TestServer;
let client: Client;
beforeAll(async () => {
  t = await startTestServer({ token: TOKEN });
  client = createClient({ baseUrl: t.url, token: TOKEN });
});
afterAll(() => t[Symbol.asyncDispose]());

/** With the token. */
function call<T = ExchangeInfo>(method: string, path: string, options: CallOptions = {}) {
  const headers = { authorization: `Bearer ${TOKEN}`, ...options.headers };
  return t.call<T>(method, path, { ...options, headers });
}

const pathOf = (id: string, rest = ""): string => `/api/sessions/${id}/exchanges${rest}`;

function post(id: string, content: string, headers: Record<string, string> = {}) {
  return call<QueuedExchangeInfo>("POST", pathOf(id), { body: { content }, headers });
}

it("[HTTP-122] queues a message, and answers with its exchange and its path", async () => {
  const id = await t.newSession();
  const { status, headers, json } = await post(id.slice(0, 8), "a question");
  expect(status).toBe(202);
  expect(headers.get("location")).toBe(pathOf(id, "/1"));
  expect(json).toMatchObject({ session_id: id, n: 1, state: "queued", asked_by: "http" });
  expect(await call("GET", pathOf(id, "/1"))).toMatchObject({ json: { n: 1, state: "queued" } });
  expect((await client.getSession(id)).messages).toEqual([]);
  const sent = await statementsOf(() => post(id, "another"));
  expect(sent.statements.length, sent.statements.join("\n")).toBeLessThanOrEqual(8);
});

it("[LIMITED-4] says what not_before must be", async () => {
  const id = await t.newSession();
  for (const not_before of ["soon", "2026-13-45T00:00:00Z", "a\0"]) {
    const { status, json } = await call("POST", pathOf(id), { body: { not_before } });
    const message = expect.stringMatching(
      /^Must be a time of ISO 8601, at most 31 days ahead/,
    ) as string;
    expect([status, json]).toEqual([
      422,
      expect.objectContaining({ faults: [{ pointer: "/not_before", message }] }),
    ]);
  }
});

it("[HTTP-122] takes 1 character to 1 MiB of text, as messages do", async () => {
  const id = await t.newSession();
  const most = `${"é".repeat(MEBIBYTE / 2 - 1)}\u0001x`;
  expect((await post(id, most)).status).toBe(202);
  const too = await post(id, `${most}x`);
  expect([too.status, too.json]).toEqual([
    413,
    expect.objectContaining({ code: "body_too_large" }),
  ]);
  for (const content of ["", "a\0", "\ud800"]) {
    expect((await post(id, content)).status).toBe(422);
  }
  expect((await call("POST", pathOf(id), { body: { content: null } })).status).toBe(422);
  expect((await call("POST", pathOf(id), { body: { text: "x" } })).status).toBe(422);
  expect((await call("PATCH", pathOf(id, "/1"), { body: { content: "" } })).status).toBe(422);
  const long = await call("PATCH", pathOf(id, "/1"), { body: { content: `${most}x` } });
  expect(long.status).toBe(413);
  await claimNext(t.store, id);
  const { messages } = await client.getSession(id);
  expect(messages[0]?.content).toBe(most);
});

it("[HTTP-123] a key makes a request repeatable, and belongs to one body", async () => {
  const id = await t.newSession();
  const key = { "idempotency-key": "k" };
  const first = await post(id, "once", key);
  expect(await post(id, "once", key)).toMatchObject({ status: 202, json: { n: first.json.n } });
  expect(await post(id, "other", key)).toMatchObject({
    status: 422,
    json: { code: "idempotency_key_reused" },
  });
  const without = await call("POST", pathOf(id), { headers: key });
  expect(without.json).toMatchObject({ code: "idempotency_key_reused" });
  expect(await statesOf(t.store, id)).toEqual(["queued"]);
});

it("[HTTP-124] without a message, continues, or says that there is nothing", async () => {
  const id = await t.newSession();
  const nothing = { status: 409, json: { code: "nothing_to_continue" } };
  expect(await call("POST", pathOf(id))).toMatchObject(nothing);
  await ask(t.store, id, "typed");
  await expire(t.store, id);
  expect(await call("POST", pathOf(id), { body: {} })).toMatchObject({
    status: 202,
    json: { n: 1, state: "queued" },
  });
  expect(await call("POST", pathOf(id))).toMatchObject(nothing);
});

it("[HTTP-125] stops an exchange", async () => {
  const id = await t.newSession();
  await post(id, "one");
  await post(id, "two");
  const fence = await claimNext(t.store, id);
  const stop = (n: number | string) => call("POST", pathOf(id, `/${n}/stop`));
  expect(await stop(1)).toMatchObject({ status: 200, json: { n: 1, state: "running" } });
  expect(await stop(2)).toMatchObject({ status: 200, json: { n: 2, state: "stopped" } });
  const ended = { status: 409, json: { code: "exchange_ended" } };
  expect(await stop(2)).toMatchObject(ended);
  await t.store.write(finishExchange, { fence, thread_id: `${id}:0`, end: "stopped" });
  expect(await stop(1)).toMatchObject(ended);
  for (const n of [3, 0, "x", "01"]) {
    expect(await stop(n)).toMatchObject({ status: 404, json: { code: "exchange_not_found" } });
  }
  expect((await call("POST", pathOf("ffffffff", "/1/stop"))).status).toBe(404);
  expect((await call("POST", pathOf(id, "/1/stop"), { body: { x: 1 } })).status).toBe(422);
});

it("[HTTP-126] changes and withdraws what is queued, of one revision if it is named", async () => {
  const id = await t.newSession();
  await post(id, "one");
  await post(id, "two");
  const change = (n: number, content: string, revision?: string) =>
    call("PATCH", pathOf(id, `/${n}`), {
      body: { content },
      ...(revision === undefined ? {} : { headers: { "if-match": revision } }),
    });
  expect(await change(1, "first", "1")).toMatchObject({ status: 200, json: { revision: 2 } });
  const changed = { status: 412, json: { code: "exchange_changed" } };
  expect(await change(1, "late", "1")).toMatchObject(changed);
  expect(await change(1, "1st", '"2"')).toMatchObject({ status: 200, json: { revision: 3 } });
  expect(await change(1, "first")).toMatchObject({ status: 200, json: { revision: 4 } });
  for (const wrong of ["x", "0", "-1", '"1', "1.0", "*", "9".repeat(16)]) {
    expect((await change(1, "x", wrong)).status, wrong).toBe(422);
  }
  const withdraw = (n: number, headers = {}) => call("DELETE", pathOf(id, `/${n}`), { headers });
  expect(await withdraw(2, { "if-match": "7" })).toMatchObject(changed);
  expect(await withdraw(2)).toMatchObject({ status: 200, json: { state: "stopped" } });
  await claimNext(t.store, id);
  const begun = { status: 409, json: { code: "exchange_begun" } };
  expect(await withdraw(1)).toMatchObject(begun);
  expect(await withdraw(2)).toMatchObject(begun);
  expect(await change(1, "x")).toMatchObject(begun);
  const { messages } = await client.getSession(id);
  expect(messages.map(({ content }) => content)).toEqual(["first"]);
});

it("[HTTP-127] refuses all of this while the service has no token", async () => {
  await using open = await startTestServer();
  const id = await open.newSession();
  const refused = { status: 403, json: { code: "token_required" } };
  const body = { content: "x" };
  expect(await open.call("POST", pathOf(id), { body })).toMatchObject(refused);
  expect(await open.call("POST", pathOf(id))).toMatchObject(refused);
  expect(await open.call("POST", pathOf(id, "/1/stop"))).toMatchObject(refused);
  expect(await open.call("PATCH", pathOf(id, "/1"), { body })).toMatchObject(refused);
  expect(await open.call("DELETE", pathOf(id, "/1"))).toMatchObject(refused);
  expect(await statesOf(open.store, id)).toEqual([]);
  expect((await t.call("POST", pathOf(id), { body })).status).toBe(401);
});

it("[HTTP-128] refuses ended sessions and those of sub-agents", async () => {
  const id = await t.newSession();
  const child = await t.store.write(createSession, {
    parent_session_id: id,
    parent_call_id: "call",
  });
  expect(await post(child.id, "x")).toMatchObject({ status: 422, json: { code: "invalid_usage" } });
  await ask(t.store, id, "typed");
  expect(await post(child.id, "x")).toMatchObject({ status: 409, json: { code: "session_busy" } });
  await t.store.write(endSession, { id });
  expect(await post(id, "x")).toMatchObject({ status: 409, json: { code: "session_ended" } });
});

it("[HTTP-129] a session shows what it does now, or did last", async () => {
  const id = await t.newSession();
  const list = "/api/sessions?limit=1";
  const now = async (): Promise<unknown> => {
    const one = await call<object>("GET", `/api/sessions/${id}`);
    const { json } = await call<object[]>("GET", list);
    const of = (value: object | undefined): unknown => Reflect.get(value ?? {}, "exchange");
    expect(of(json[0])).toEqual(of(one.json));
    return of(one.json);
  };
  expect(await now()).toBeNull();
  await post(id, "one");
  await post(id, "two");
  expect(await now()).toEqual({ n: 1, state: "queued" });
  const fence = await claimNext(t.store, id);
  expect(await now()).toEqual({ n: 1, state: "running" });
  await t.store.write(finishExchange, { fence, thread_id: `${id}:0` });
  expect(await now()).toEqual({ n: 2, state: "queued" });
  await claimNext(t.store, id);
  await expire(t.store, id);
  expect(await now()).toEqual({ n: 2, state: "interrupted" });
  await call("POST", pathOf(id, "/2/stop"));
  expect(await now()).toEqual({ n: 2, state: "stopped" });
});

it("[HTTP-21] refuses include as every query parameter that is not its own", async () => {
  const id = await t.newSession();
  await post(id, "one");
  for (const [path, value] of [
    ["/api/sessions", "labels"],
    [`/api/sessions/${id}`, "exchange"],
    [pathOf(id, "/1"), "queue"],
    [`/api/sessions/${id}/questions`, "answered"],
    ["/api/events", "labels"],
  ]) {
    const { status, json } = await call("GET", `${path}?include=${value}`);
    expect([status, json], path).toMatchObject([422, { code: "invalid_request" }]);
  }
});

it("[HTTP-130] an exchange that has not begun comes with its message", async () => {
  const id = await t.newSession();
  await post(id, "a question");
  const one = async () => (await call("GET", pathOf(id, "/1"))).json;
  const queued_at = expect.any(String);
  expect(await one()).toMatchObject({ content: "a question", attempts: 0, queued_at });
  await claimNext(t.store, id);
  expect(await one()).toMatchObject({ content: null, attempts: 0, queued_at });
  const [listed] = (await call<object[]>("GET", pathOf(id))).json;
  expect(listed).not.toHaveProperty("content");
});

it("[HTTP-131] messages that are appended meanwhile go with the next exchange", async () => {
  const id = await t.newSession();
  await post(id, "queued");
  await client.postMessage(id, "appended");
  expect((await client.getSession(id)).messages).toMatchObject([{ content: "appended" }]);
  await claimNext(t.store, id);
  const { messages } = await client.getSession(id);
  expect(messages.map(({ content }) => content)).toEqual(["appended", "queued"]);
});

it("[HTTP-132] the client has all of it", async () => {
  const { id } = await client.createSession();
  const key = { idempotencyKey: "k" };
  const first = await client.queueExchange(id, "one", key);
  expect(first).toMatchObject({ n: 1, state: "queued", runnable: false });
  expect(await client.queueExchange(id, "one", key)).toMatchObject({ n: 1 });
  await client.queueExchange(id, "two");
  const { revision } = await client.changeExchange(id, 1, "first", { revision: first.revision });
  const stale = { status: 412, code: "exchange_changed" };
  await expect(client.changeExchange(id, 1, "x", { revision: 1 })).rejects.toMatchObject(stale);
  await expect(client.withdrawExchange(id, 1, { revision: 1 })).rejects.toMatchObject(stale);
  const one = await client.getExchange(id, 1);
  expect(one).toMatchObject({ revision, content: "first" });
  expect(await client.withdrawExchange(id, 2)).toMatchObject({ state: "stopped" });
  expect(await client.withdrawExchange(id, 1, { revision })).toMatchObject({ state: "stopped" });
  const nothing = { status: 409, code: "nothing_to_continue" };
  await expect(client.queueExchange(id, null)).rejects.toMatchObject(nothing);
  await client.queueExchange(id, "three");
  expect(await client.stopExchange(id, 3)).toMatchObject({ state: "stopped" });
  const ended = { status: 409, code: "exchange_ended" };
  await expect(client.stopExchange(id, 3)).rejects.toMatchObject(ended);
  const { exchange } = await client.getSession(id);
  expect(exchange).toEqual({ n: 3, state: "stopped" });
  const { sessions } = await client.listSessions({ limit: 1 });
  expect(sessions).toMatchObject([{ id, exchange }]);
  const unknown = createClient({ baseUrl: t.url });
  await expect(unknown.queueExchange(id, "x")).rejects.toMatchObject({ code: "unauthorized" });
});

it("[QUEUE-41] refuses at once what no service would run: the folder of a session came without the token", async () => {
  await using open = await startTestServer({ madeToken: TOKEN });
  const body = { repo_path: "/srv/shop" };
  const { json: made } = await open.call<{ id: string }>("POST", "/api/sessions", { body });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const refused = await open.call("POST", pathOf(made.id), { body: { content: "x" }, headers });
  expect(refused).toMatchObject({ status: 409, json: { code: "not_confirmed" } });
  expect(refused.text).toContain(`reprise --session ${made.id}`);
  const listed = await open.call("GET", pathOf(made.id), { headers });
  expect(listed.json).toEqual([]);
});
