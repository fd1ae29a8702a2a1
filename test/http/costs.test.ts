import { afterAll, beforeAll, expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { type CallRecord, NO_COUNTS, NO_USAGE } from "../../src/core/cost/model-calls.ts";
import { costOf } from "../../src/core/cost/cost-fields.ts";
import { takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { finishExchange } from "../../src/store/checkpoints/finish.ts";
import { storeCallsAlone } from "../../src/store/records/model-calls/store-calls.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { owner } from "../helpers/engines.ts";
import { openPage } from "../helpers/page-client.ts";
import { PRICED_CALL } from "../helpers/sessions/model-calls.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let id = "";
const UNKNOWN: CallRecord = { ...PRICED_CALL, ...NO_COUNTS, price_micros: null, price_table: null };
beforeAll(async () => {
  t = await startTestServer({ token: "t".repeat(20) });
  ({ id } = await t.store.write(createSession, {}));
  for (const calls of [[PRICED_CALL, PRICED_CALL], [PRICED_CALL, UNKNOWN], [UNKNOWN], []]) {
    const fence = await t.store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begin = { fence, content: "a question", model: "demo", persona_name: "assistant" };
    const { record } = await t.store.write(beginExchange, begin);
    const numbered = calls.map((call, index) => ({ ...call, call: index + 1 }));
    await t.store.write(storeCallsAlone, { fence, n: record?.n ?? 0, calls: numbered });
    await t.store.write(finishExchange, { fence, thread_id: `${id}:0` });
  }
});
afterAll(() => t[Symbol.asyncDispose]());

it("[COST-13] a session and its exchanges have what their requests have used and cost", async () => {
  const client = createClient({ baseUrl: t.url, token: "t".repeat(20) });
  const { usage, cost_micros } = await client.getSession(id);
  expect({ usage, cost_micros }).toEqual({
    usage: {
      calls: 5,
      unpriced_calls: 2,
      input_tokens: 3000,
      cache_read_tokens: 1800,
      cache_write_5m_tokens: 300,
      cache_write_1h_tokens: 0,
      output_tokens: 150,
      reasoning_tokens: 60,
    },
    cost_micros: 3702,
  });
  const listed = await client.listExchanges(id);
  expect(listed.map((each) => [each.n, each.cost_micros, each.usage?.unpriced_calls])).toEqual([
    [4, 0, 0],
    [3, null, 1],
    [2, 1234, 1],
    [1, 2468, 0],
  ]);
  expect(listed[0]).toMatchObject(costOf(NO_USAGE));
  expect(listed[1]?.usage).toMatchObject({ input_tokens: null, reasoning_tokens: null });
  expect(await client.getExchange(id, 2)).toEqual({ ...listed[2], content: null });
  // not in lists, which read no other table for it
  const { sessions } = await client.listSessions();
  expect(sessions[0]).not.toHaveProperty("cost_micros");
});

it("[COST-13] a link shows no cost", async () => {
  const client = createClient({ baseUrl: t.url, token: "t".repeat(20) });
  const { secret } = await client.createShare(id);
  const page = openPage(t);
  await page.login({ share: secret });
  const shown = await page.call("GET", `/api/sessions/${id}`);
  expect(shown.json).toMatchObject({ usage: null, cost_micros: null });
});

it("[COST-22] [COST-23] GET /api/stats sums requests in groups; a link does not open it", async () => {
  const client = createClient({ baseUrl: t.url, token: "t".repeat(20) });
  expect(await client.getStats({ by: "session" })).toEqual([
    {
      key: id,
      title: "a question",
      calls: 5,
      input: 3000,
      cached: 1800,
      output: 150,
      cost_micros: 3702,
      unknown_calls: 2,
    },
  ]);
  expect(await client.getStats({ by: "day", since: "9999-01-01T00:00:00+01:00" })).toEqual([]);
  const { secret } = await client.createShare(id);
  const page = openPage(t);
  await page.login({ share: secret });
  expect((await page.call("GET", "/api/stats?by=day")).status).toBe(403);
  await expect(client.getStats({ by: "year" as "day" })).rejects.toMatchObject({
    code: "invalid_request",
  });
  await expect(client.getStats({ by: "day", since: "2026-11-27" })).rejects.toMatchObject({
    code: "invalid_request",
  });
});
