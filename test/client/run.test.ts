import { once } from "node:events";
import { createServer } from "node:http";

import { expect, it, onTestFinished } from "vitest";

import { createClient } from "../../src/client/client.ts";
import type { LiveEvent } from "../../src/core/schemas/live.ts";
import { startBreakingProxy } from "../helpers/breaking-proxy.ts";
import { payingModel, startPayingService, TOKEN } from "../helpers/paying-service.ts";
import { seededRandom } from "../helpers/random.ts";
import { startTestServer } from "../helpers/server.ts";

/** Joins texts by their offsets, as a reader does that may get a text again after a lost connection. */
function joined(events: readonly LiveEvent[]) {
  const texts = new Map<string, string>();
  const contents = new Map<string, string>();
  const add = (message_id: string, offset: number, text: string): void => {
    const before = Array.from(texts.get(message_id) ?? "")
      .slice(0, offset)
      .join("");
    texts.set(message_id, before + text);
  };
  for (const { event, data } of events) {
    if (event === "text" || (event === "snapshot" && data.text !== null)) {
      const piece = event === "text" ? data : data.text;
      add(piece?.message_id ?? "", piece?.offset ?? 0, piece?.text ?? "");
    } else if (event === "reset") {
      texts.delete(data.message_id);
    } else if (event === "message" && data.role === "assistant") {
      contents.set(data.message_id, data.content);
    }
  }
  return { texts, contents };
}

it("[LIVE-50] runs a message to its end over connections that break and nodes that change", async () => {
  const random = seededRandom("run");
  const nodes: string[] = [];
  const proxy = await startBreakingProxy({
    target: () => nodes[Math.floor(random() * nodes.length)] ?? "",
    random,
    meanBytes: 3000,
    stallMs: 20,
  });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const allowHosts = [new URL(proxy.url).host];
  const t = await startPayingService(payingModel, { latencyMs: 20, allowHosts });
  const other = await startTestServer({ token: TOKEN, store: t.store, allowHosts });
  onTestFinished(() => other[Symbol.asyncDispose]());
  nodes.push(t.url, other.url);
  const client = createClient({ baseUrl: proxy.url, token: TOKEN });
  const pauseMs = { first: 5, longest: 20 };
  const text = `a text ${"with many words ".repeat(20)}`;
  const events: LiveEvent[] = [];
  const run = client.run(t.id, text, { pauseMs });
  let step = await run.next();
  for (; step.done !== true; step = await run.next()) {
    events.push(step.value);
  }
  expect(step.value).toMatchObject({ n: 1, state: "done" });
  const { texts, contents } = joined(events);
  expect([...contents.values()]).toEqual([`you said: ${text} 👩‍🚀é`]);
  for (const [id, content] of contents) {
    expect([undefined, content]).toContain(texts.get(id));
  }
  expect(texts.size).toBe(1);
  const direct = createClient({ baseUrl: t.url, token: TOKEN });
  expect(await direct.listExchanges(t.id)).toHaveLength(1);
});

it("[LIVE-50] stops when a person is asked, and shows the whole exchange after the answer", async () => {
  const t = await startPayingService(payingModel);
  const client = createClient({ baseUrl: t.url, token: TOKEN });
  const idempotencyKey = "pay";
  const all = async () => {
    const names: string[] = [];
    const run = client.run(t.id, "pay rent", { idempotencyKey });
    let step = await run.next();
    for (; step.done !== true; step = await run.next()) {
      const { event, data } = step.value;
      names.push(event === "message" ? data.role : event);
    }
    return { names, exchange: step.value };
  };
  const asked = await all();
  expect(asked.exchange).toMatchObject({ n: 1, state: "waiting" });
  const [question] = await client.listQuestions(t.id);
  await client.answerQuestion(t.id, question?.id ?? "", { choice: "allow_once" });
  const { names, exchange } = await all();
  expect(exchange).toMatchObject({ n: 1, state: "done" });
  const roles = names.filter((name) => ["user", "assistant", "tool"].includes(name));
  expect(roles).toEqual(["user", "assistant", "tool", "tool", "tool", "assistant"]);
  expect(t.paid()).toEqual(["rent"]);
});

it("[LIVE-73] reports at once that the address is another server's", async () => {
  let requests = 0;
  const other = createServer((_, response) => {
    requests += 1;
    response.writeHead(404, { "content-type": "text/html" }).end("<h1>not here</h1>");
  });
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === "object" ? address?.port : "";
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}` });
  await expect(client.run(crypto.randomUUID(), "hello").next()).rejects.toMatchObject({
    code: "bad_answer",
    status: 404,
  });
  expect(requests).toBe(1);
});
