import { expect, it } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import type { ExchangeInfo } from "../../src/core/schemas/schemas.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { agentOptions } from "../helpers/exchanger.ts";
import { openLive } from "../helpers/live-reader.ts";
import { startRawProvider } from "../helpers/raw-provider.ts";
import { startTestServer } from "../helpers/server.ts";

const REASON = "organization org-42 has no credit";
const KEY = "sk-proj-Zq8Xv2Lm9Rt4Wp7Ks1Nd6Hb3";

it("[EXCHANGE-30] over HTTP a provider's reason is for callers who may write, and no caller sees a secret", async () => {
  const body = { error: { message: `${REASON} (${KEY})`, type: "invalid_request_error" } };
  await using provider = await startRawProvider("chat", () => ({ status: 400, body }));
  await using t = await startTestServer({ token: "the-token", readToken: "the-read-token" });
  const { id } = await t.store.write(createSession, {});
  const env = { ...provider.env, OPENAI_API_KEY: KEY };
  const exchange = createExchanger(agentOptions(t.store, env)).exchange(
    { session_id: id, text: "question" },
    { listener: () => {}, signal: new AbortController().signal },
  );
  await expect(exchange).rejects.toThrow(REASON);

  const seen = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const path = `/api/sessions/${id}/exchanges`;
    const [listed] = (await t.call<ExchangeInfo[]>("GET", path, { headers })).json;
    const one = (await t.call<ExchangeInfo>("GET", `${path}/1`, { headers })).json;
    const live = await openLive(t.url, id, { headers, query: "?after_seq=0" });
    const event = await live.first(({ event }) => event === "snapshot");
    const events = live.events();
    live.cut();
    await live.ended;
    expect(listed).toMatchObject({ state: "failed", error_code: "model_failed" });
    expect(JSON.stringify([one, event])).toContain("model_failed");
    return [listed, one, events].map((shown) => JSON.stringify(shown));
  };
  for (const text of await seen("the-token")) {
    expect(text).toContain(REASON);
    expect(text).not.toContain(KEY.slice(0, 12));
  }
  for (const text of await seen("the-read-token")) {
    expect(text).not.toContain("org-42");
    expect(text).toContain("Only its code is shown");
  }
  // what the owner was sent meanwhile is not what a reader gets, and the other way round
  expect((await seen("the-token")).join()).toContain(REASON);
  expect(JSON.stringify(t.log)).not.toContain("org-42");
});
