import { expect, it } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import type { ExchangeInfo } from "../../src/core/schemas/schemas.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { agentOptions } from "../helpers/exchanger.ts";
import { openLive } from "../helpers/live-reader.ts";
import { OTHER_KEY, OWN_KEY, PASSWORD, QUESTION, QUOTES } from "../helpers/quoted-secrets.ts";
import { chatAnswer, event, startRawProvider } from "../helpers/raw-provider.ts";
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

it("[EXCHANGE-30] [CLI-37] no secret that a provider quotes is in the live feed, in records or in the log", async () => {
  let at = -1;
  const message = () => QUOTES[at]?.[0] ?? "";
  await using provider = await startRawProvider("chat", (index) =>
    // every other one ends an answer that has begun
    index % 2 === 0
      ? { status: 400, body: { error: { message: message() } } }
      : chatAnswer({ text: "half" }) + event({ error: { code: 400, message: message() } }),
  );
  await using t = await startTestServer({ token: "the-token" });
  const headers = { authorization: "Bearer the-token" };
  const env = {
    ...provider.env,
    OPENAI_API_KEY: OWN_KEY,
    ANTHROPIC_API_KEY: OTHER_KEY,
    OLLAMA_BASE_URL: `http://ada:${PASSWORD}@127.0.0.1:1`,
  };
  const exchanger = createExchanger(agentOptions(t.store, env));
  for (const [text, ...secrets] of QUOTES) {
    at += 1;
    const { id } = await t.store.write(createSession, {});
    const live = await openLive(t.url, id, { headers, query: "?after_seq=0" });
    await live.first(({ event }) => event === "snapshot");
    const request = { session_id: id, text: QUESTION };
    const { signal } = new AbortController();
    await expect(exchanger.exchange(request, { listener: () => {}, signal })).rejects.toThrow(
      "rejected the request",
    );
    const events = await live.until(
      ({ event, data }) => event === "exchange" && data.state === "failed",
    );
    live.cut();
    const { json: records } = await t.call("GET", `/api/sessions/${id}/exchanges`, { headers });
    // the person's own message may quote what is theirs
    const others = events.filter(({ event }) => event !== "message");
    const seen = JSON.stringify([others, records, t.log]);
    expect(seen).toContain("rejected the request (status 400)");
    for (const secret of secrets) {
      expect(seen.includes(JSON.stringify(secret).slice(1, -1)), text).toBe(false);
    }
  }
});
