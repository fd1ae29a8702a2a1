import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import type { Client } from "../../src/client/client.ts";
import type { ExchangeInfo } from "../../src/core/schemas/schemas.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { startProvider } from "../helpers/providers/start.ts";
import { type Step, text } from "../helpers/providers/steps.ts";
import { letTimeCome } from "../helpers/queue.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";

const LIMITED: Step = { kind: "status", status: 429, headers: { "retry-after": "1200" } };

async function aProvider(answer: (index: number) => readonly Step[]) {
  const provider = await startProvider("anthropic", answer);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return provider;
}

async function exchangeThat(
  client: Client,
  id: string,
  is: (exchange: ExchangeInfo) => boolean,
): Promise<ExchangeInfo> {
  for (;;) {
    const exchange = await client.getExchange(id, 1);
    if (is(exchange)) {
      return exchange;
    }
    await sleep(20);
  }
}

it("[LIMITED-3] an exchange of a service waits for the end of a limit, and another node continues it after the first was killed", async () => {
  await using postgres = await createPostgres();
  const provider = await aProvider((index) => (index === 0 ? [LIMITED] : [text("answer")]));
  const home = homeOfNodes({ ...provider.env, REPRISE_DATABASE: postgres.url });
  expect(await home.call(["config", "set", "when_limited", "wait"])).toMatchObject({ code: 0 });
  const first = await startNode(home, []);
  const { id } = await first.client.createSession({});
  const before = Date.now();
  await first.post(id, "question");
  const waits = await exchangeThat(first.client, id, ({ not_before }) => not_before !== null);
  expect(waits).toMatchObject({ state: "queued", error_code: null, attempts: 0 });
  const until = Date.parse(waits.not_before ?? "");
  expect(until).toBeGreaterThanOrEqual(before + 1_200_000);
  expect(until).toBeLessThanOrEqual(Date.now() + 1_200_000);
  expect(provider.received).toHaveLength(1);
  await first.service.stop("SIGKILL");

  await using store = await openStoreAt(postgres.url);
  const nodes = await Promise.all([startNode(home, []), startNode(home, [])]);
  await letTimeCome(store, id);
  const done = await exchangeThat(nodes[0].client, id, ({ ended_at }) => ended_at !== null);
  expect(done).toMatchObject({ n: 1, state: "done", attempts: 0 });
  expect(provider.received).toHaveLength(2);
  const { messages } = await nodes[1].client.getSession(id);
  expect(messages.map(({ content }) => content)).toEqual(["question", "answer"]);
});

it("[LIMITED-1] [LIMITED-4] of three nodes one runs a message that was queued for later, once and not before", async () => {
  await using postgres = await createPostgres();
  const provider = await aProvider(() => [text("answer")]);
  const home = homeOfNodes({ ...provider.env, REPRISE_DATABASE: postgres.url });
  const nodes = await Promise.all([0, 1, 2].map(() => startNode(home, [])));
  const [{ client }] = nodes as [(typeof nodes)[number]];
  const { id } = await client.createSession({});
  const at = new Date(Date.now() + 3000);
  const offset = at.toISOString().replace("Z", "+00:00");
  const queued = await client.queueExchange(id, "question", { notBefore: offset });
  expect(queued).toMatchObject({ state: "queued", not_before: at.toISOString() });
  const done = await exchangeThat(client, id, ({ ended_at }) => ended_at !== null);
  expect(done.state).toBe("done");
  expect(Date.parse(done.begun_at ?? "")).toBeGreaterThanOrEqual(at.getTime());
  expect(provider.received).toHaveLength(1);
  const late = new Date(Date.now() + 32 * 24 * 3_600_000).toISOString();
  await expect(client.queueExchange(id, "x", { notBefore: late })).rejects.toMatchObject({
    code: "invalid_request",
  });
  await expect(client.queueExchange(id, "x", { notBefore: "soon" })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

it("[LIMITED-3] without the setting the exchange fails, and says when the limit is over", async () => {
  const provider = await aProvider(() => [LIMITED]);
  const home = homeOfNodes(provider.env);
  const { client, post } = await startNode(home, []);
  const { id } = await client.createSession({});
  await post(id, "question");
  const failed = await exchangeThat(client, id, ({ ended_at }) => ended_at !== null);
  expect(failed).toMatchObject({ state: "failed", error_code: "model_rate_limited" });
  expect(Date.parse(failed.resets_at ?? "")).toBeGreaterThan(Date.now());
  const next = await client.queueExchange(id, null, { notBefore: failed.resets_at ?? "" });
  expect(next).toMatchObject({ n: 2, state: "queued", not_before: failed.resets_at });
  expect(await client.stopExchange(id, 2)).toMatchObject({ state: "stopped" });
});
