import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { newId } from "../../src/core/ids.ts";
import type { ExchangeInfo } from "../../src/core/schemas/schemas.ts";
import { finishExchange } from "../../src/store/checkpoints/finish.ts";
import { takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { owner } from "../helpers/engines.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let id = "";
beforeAll(async () => {
  t = await startTestServer();
  ({ id } = await t.store.write(createSession, {}));
  for (let index = 0; index < 5; index += 1) {
    const fence = await t.store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begin = { fence, content: "a question", model: "demo", persona_name: "assistant" };
    await t.store.write(beginExchange, begin);
    await t.store.write(finishExchange, { fence, thread_id: `${id}:0` });
  }
});
afterAll(() => t[Symbol.asyncDispose]());

const path = (rest = ""): string => `/api/sessions/${id.slice(0, 8)}/exchanges${rest}`;

it("[HTTP-120] lists exchanges in pages, the latest first", async () => {
  const first = await t.call<ExchangeInfo[]>("GET", path("?limit=2"));
  expect(first.status).toBe(200);
  expect(first.json.map(({ n }) => n)).toEqual([5, 4]);
  const link = first.headers.get("link") ?? "";
  expect(link).toBe(`</api/sessions/${id}/exchanges?limit=2&before_n=4>; rel="next"`);
  const next = await t.call<ExchangeInfo[]>("GET", /<(.*)>/.exec(link)?.[1] ?? "");
  expect(next.json.map(({ n }) => n)).toEqual([3, 2]);
  const last = await t.call<ExchangeInfo[]>("GET", path("?limit=2&before_n=2"));
  expect(last.json.map(({ n }) => n)).toEqual([1]);
  expect(last.headers.get("link")).toBeNull();
});

it("[HTTP-121] returns one exchange, and 404 for one that the session has not", async () => {
  const { status, json } = await t.call<ExchangeInfo>("GET", path("/3"));
  expect(status).toBe(200);
  expect(json).toMatchObject({ session_id: id, n: 3, state: "done", asked_by: "library" });
  for (const n of ["6", "0", "-1", "03", "x", "9".repeat(300)]) {
    const answer = await t.call("GET", path(`/${n}`));
    expect(answer.status, n).toBe(404);
    expect(answer.json).toMatchObject({ code: "exchange_not_found" });
  }
  const unknown = await t.call("GET", "/api/sessions/ffffffff/exchanges/1");
  expect(unknown.json).toMatchObject({ code: "session_not_found" });
  expect((await t.call("GET", path("?before_n=0"))).status).toBe(422);
  expect((await t.call("GET", path("/1?x=1"))).status).toBe(422);
});

it("[HTTP-120] [HTTP-121] the client has both", async () => {
  const client = createClient({ baseUrl: t.url });
  const listed = await client.listExchanges(id, { limit: 2, before_n: 3 });
  expect(listed.map(({ n }) => n)).toEqual([2, 1]);
  expect(await client.getExchange(id, 2)).toEqual({ ...listed[0], content: null });
});

describe("with if_idle", () => {
  const token = "0123456789abcdef0123456789abcdef";
  const send = (service: TestServer, session: string, body: object, key: string = newId()) =>
    service.call<{ n?: number; code?: string }>("POST", `/api/sessions/${session}/exchanges`, {
      body,
      headers: { authorization: `Bearer ${token}`, "idempotency-key": key },
    });

  it("[HTTP-393] a message is queued only if no other exchange is, and once for one key", async () => {
    await using service = await startTestServer({ token });
    const { id: idle } = await service.store.write(createSession, {});
    const first = { content: "one", if_idle: true };
    expect(await send(service, idle, first, "a")).toMatchObject({ status: 202, json: { n: 1 } });
    expect(await send(service, idle, { content: "two", if_idle: true })).toMatchObject({
      status: 409,
      json: { code: "session_busy" },
    });
    expect((await send(service, idle, first, "a")).json).toMatchObject({ n: 1 });
    expect((await send(service, idle, { content: "two" })).json).toMatchObject({ n: 2 });
    expect((await send(service, idle, { content: "x", if_idle: 1 })).status).toBe(422);
  });

  it("[HTTP-393] of several at once in an idle session, one is queued", async () => {
    await using service = await startTestServer({ token });
    const { id: idle } = await service.store.write(createSession, {});
    const statuses = await Promise.all(
      ["one", "two", "three"].map(
        async (content) => (await send(service, idle, { content, if_idle: true })).status,
      ),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([202, 409, 409]);
  });
});
