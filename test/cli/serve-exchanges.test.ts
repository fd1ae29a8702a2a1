import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import type { ExchangeInfo } from "../../src/core/schemas/schemas.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";

const TOKEN = "a-token";

it("[OPS-21] a service answers what is queued, and another one continues after a kill -9", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await startModelServer({
    latencyMs: 20,
    chunkSize: 4,
    answer: (_, index) => {
      arrived.resolve();
      return { content: index === 0 ? "word ".repeat(500) : "the answer" };
    },
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
    REPRISE_TOKEN: TOKEN,
  });
  const start = async () => {
    const service = home.start(["serve", "--port", "0"]);
    const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
    return { service, url };
  };
  const first = await start();
  const authorization = `Bearer ${TOKEN}`;
  const { id } = await createClient({ baseUrl: first.url, token: TOKEN }).createSession();
  const posted = await fetch(`${first.url}/api/sessions/${id}/exchanges`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "idempotency-key": "k" },
    body: JSON.stringify({ content: "a question" }),
  });
  expect(posted.status).toBe(202);
  expect(posted.headers.get("location")).toBe(`/api/sessions/${id}/exchanges/1`);
  await arrived.promise;
  await sleep(100);
  await first.service.stop("SIGKILL");

  const second = await start();
  const client = createClient({ baseUrl: second.url, token: TOKEN });
  let exchange: ExchangeInfo;
  do {
    await sleep(50);
    exchange = await client.getExchange(id, 1);
  } while (exchange.ended_at === null);
  expect(exchange).toMatchObject({ n: 1, state: "done", asked_by: "http", last_seq: 2 });
  const { messages } = await client.getSession(id);
  expect(messages.map(({ content }) => content)).toEqual(["a question", "the answer"]);
  expect(server.requests()).toHaveLength(2);
  const metrics = await fetch(`${second.url}/metrics`, { headers: { authorization } });
  const values = await metrics.text();
  expect(values).toMatch(/^reprise_tokens_total\{kind="output"\} [1-9]/m);
  expect(values).toMatch(/^reprise_jobs_max 4$/m);
  expect(await second.service.stop("SIGTERM")).toMatchObject({ code: 0 });
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
});
