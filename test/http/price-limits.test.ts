import { expect, it, onTestFinished } from "vitest";

import { createCatalogue } from "../../src/rules/catalogue.ts";
import { createSettings } from "../../src/rules/config/settings.ts";
import { setLimits } from "../../src/store/records/sessions/limits.ts";
import { personaFolders } from "../helpers/persona-folders.ts";
import { startTestServer } from "../helpers/server.ts";

const TOKEN = "t".repeat(20);
const UNPRICED = "openai:gpt-test";
const REFUSED = {
  code: "price_unknown",
  detail: expect.stringContaining(`the price of ${UNPRICED} is unknown`) as string,
};
const LIMITS = { price_limits: { exchange: 1_000_000 } };

async function serve() {
  const { repoPath: _, ...personas } = personaFolders({
    "user/paid.md": `---\nname: paid\ndescription: Pays.\nmodel: ${UNPRICED}\n---\nHi.`,
    "builtin/assistant.md": "---\nname: assistant\ndescription: Helps.\n---\nHelp.",
  }).places;
  const settings = createSettings({ env: {}, file: null, home: "/" });
  const catalogue = createCatalogue({ personas, settings, modelLists: null });
  const t = await startTestServer({ token: TOKEN, catalogue });
  onTestFinished(() => t[Symbol.asyncDispose]());
  const call = (
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    t.call<{ id: string }>(method, path, {
      body,
      headers: { ...headers, authorization: `Bearer ${TOKEN}` },
    });
  const created = async (body: object): Promise<string> =>
    (await call("POST", "/api/sessions", body)).json.id;
  return { store: t.store, call, created };
}

it("[COST-19] no session is made with a limit of its price and a model or persona without a price", async () => {
  const { call } = await serve();
  for (const chosen of [{ model_override: UNPRICED }, { persona_name: "paid" }]) {
    const answer = await call("POST", "/api/sessions", { ...LIMITS, ...chosen });
    expect([answer.status, answer.json]).toEqual([422, expect.objectContaining(REFUSED)]);
  }
  expect((await call("GET", "/api/sessions")).json).toEqual([]);
  for (const body of [
    LIMITS,
    { model_override: UNPRICED },
    { persona_name: "paid", price_limits: {} },
    { ...LIMITS, persona_name: "nobody" },
  ]) {
    expect((await call("POST", "/api/sessions", body)).status).toBe(201);
  }
});

it("[COST-19] a change that leads to both is refused, and changes nothing", async () => {
  const { call, created } = await serve();
  const limited = await created(LIMITS);
  const unpriced = await created({ model_override: UNPRICED });
  for (const [id, change] of [
    [limited, { model: UNPRICED, name: "other" }],
    [limited, { model: UNPRICED, context: "keep" }],
    [limited, { persona_name: "paid", name: "other" }],
    [unpriced, { price_limits: { tree: 5 }, name: "other" }],
  ] as const) {
    const answer = await call("PATCH", `/api/sessions/${id}`, change);
    expect([answer.status, answer.json]).toEqual([422, expect.objectContaining(REFUSED)]);
    const { json } = await call("GET", `/api/sessions/${id}`);
    const model = id === limited ? null : UNPRICED;
    expect(json).toMatchObject({ name: null, persona_name: null, model });
  }
  // the last limit goes with the same change
  const change = { model: UNPRICED, price_limits: { exchange: null } };
  expect((await call("PATCH", `/api/sessions/${limited}`, change)).status).toBe(200);
  const other = { model: "demo:echo", price_limits: { exchange: 5 } };
  expect((await call("PATCH", `/api/sessions/${unpriced}`, other)).status).toBe(200);
});

it("[COST-19] no exchange is queued, but one that was queued before is found by its key", async () => {
  const { store, call, created } = await serve();
  const id = await created({ model_override: UNPRICED });
  const queue = (content: string, key: string) =>
    call("POST", `/api/sessions/${id}/exchanges`, { content }, { "idempotency-key": key });
  expect((await queue("before", "one")).status).toBe(202);
  await store.write(setLimits, { id, prices: { session: 5 } });
  const refused = await queue("after", "two");
  expect([refused.status, refused.json]).toEqual([422, expect.objectContaining(REFUSED)]);
  const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "after" }] }];
  const chat = await call("POST", `/api/sessions/${id}/ui/ai-sdk`, { id, messages });
  expect([chat.status, chat.json]).toEqual([422, expect.objectContaining(REFUSED)]);
  expect((await queue("before", "one")).status).toBe(202);
  const listed = await call("GET", `/api/sessions/${id}/exchanges`);
  expect(listed.json).toHaveLength(1);
  await store.write(setLimits, { id, prices: { session: null } });
  expect((await queue("after", "two")).status).toBe(202);
});

it("[COST-19] a limited session of a model with a price queues", async () => {
  const { call, created } = await serve();
  const id = await created(LIMITS);
  const answer = await call("POST", `/api/sessions/${id}/exchanges`, { content: "hello" });
  expect(answer.status).toBe(202);
});
