import { expect, it, onTestFinished } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import { reviveDead } from "../../../src/store/records/exchanges/revive.ts";
import type { Fence } from "../../../src/store/records/leases/fence.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { mirrorMessages } from "../../../src/store/records/messages/mirror.ts";
import type { Store } from "../../../src/store/store.ts";
import { owner } from "../../helpers/engines.ts";
import { startProcess } from "../../helpers/process.ts";
import { claim, readyOf } from "../../helpers/queue.ts";
import { startTestServer } from "../../helpers/server.ts";
import { answerOf, storeAnswer } from "./running-exchange.ts";

const TOKEN = "a-token";

/** A session in which the test runs the exchanges, as a node does. */
async function startSession() {
  const t = await startTestServer({ token: TOKEN });
  onTestFinished(() => t[Symbol.asyncDispose]());
  const id = await t.newSession();
  const client = createClient({ baseUrl: t.url, token: TOKEN });
  return { ...t, id, client };
}

/** Runs a message and returns the contents of the answers and the exchange. `seen` gets each event. */
async function run(
  { client, id }: Awaited<ReturnType<typeof startSession>>,
  content: string,
  seen: string[] = [],
) {
  const answers: string[] = [];
  const events = client.run(id, content, { idempotencyKey: content });
  let step = await events.next();
  for (; step.done !== true; step = await events.next()) {
    const { event, data } = step.value;
    seen.push(event === "exchange" ? data.state : event);
    if (event === "message" && data.role === "assistant") {
      answers.push(data.content);
    }
  }
  return { answers, exchange: step.value };
}

/** The same with the AI SDK's route. */
async function chat({ url, id }: Awaited<ReturnType<typeof startSession>>, text: string) {
  const answer = await fetch(`${url}/api/sessions/${id}/ui/ai-sdk`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ id: text, role: "user", parts: [{ type: "text", text }] }],
    }),
  });
  return answer.text();
}

const textsOf = (stream: string): string =>
  [...stream.matchAll(/"delta":"([^"]*)"/g)].map(([, text]) => text).join("|");

const end = (store: Store, fence: Fence) =>
  store.write(releaseLease, { fence, finished: true, end: "done" });

async function claimNext(store: Store, by = owner): Promise<Fence> {
  await expect.poll(() => readyOf(store)).toHaveLength(1);
  const [next] = await readyOf(store);
  if (next === undefined) {
    throw new Error("nothing is queued");
  }
  return claim(store, next, by);
}

it("[LIVE-70] shows an exchange to its end although somebody else stores a message meanwhile", async () => {
  const t = await startSession();
  const seen: string[] = [];
  const running = run(t, "hello", seen);
  const fence = await claimNext(t.store);
  await storeAnswer(t.store, fence, "a1", "half");
  const resumed = fetch(`${t.url}/api/sessions/${t.id}/ui/ai-sdk`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  await t.post(t.id, "by the way");
  await expect.poll(() => seen.filter((each) => each === "message")).toHaveLength(3);
  await storeAnswer(t.store, fence, "a2", "the rest");
  await end(t.store, fence);
  expect(await running).toMatchObject({
    answers: ["half", "the rest"],
    exchange: { state: "done" },
  });
  expect(textsOf(await (await resumed).text())).toBe("half|the rest");
});

it("[LIVE-70] shows the last answer of an exchange although the next one has begun", async () => {
  const t = await startSession();
  const seen: string[] = [];
  const running = run(t, "hello", seen);
  const fence = await claimNext(t.store);
  await storeAnswer(t.store, fence, "a1", "half");
  await expect.poll(() => seen.filter((each) => each === "message")).toHaveLength(2);
  // in one transaction, so that no reader sees one without the other
  await t.store.write(async (tx) => {
    const session_id = t.id;
    await mirrorMessages(tx, answerOf(fence, "a2", "the rest"));
    await releaseLease(tx, { fence, finished: true, end: "done" });
    const { epoch } = await takeLease(tx, { session_id, owner, life_ms: 60_000 });
    const next = { session_id, epoch };
    await beginExchange(tx, {
      fence: next,
      content: "next",
      model: "demo:echo",
      persona_name: null,
    });
  }, null);
  expect(await running).toMatchObject({
    answers: ["half", "the rest"],
    exchange: { n: 1, state: "done" },
  });
});

it("[LIVE-71] follows an exchange whose node died until another one has continued it", async () => {
  const t = await startSession();
  const node = startProcess(process.execPath, ["-e", "process.stdin.resume()"]);
  const seen: string[] = [];
  const running = run(t, "hello", seen);
  await claimNext(t.store, { ...thisProcess("a test"), pid: node.pid });
  await expect.poll(() => seen).toContain("message");
  await node.stop("SIGKILL");
  await expect.poll(() => seen).toContain("interrupted");
  const resumed = await fetch(`${t.url}/api/sessions/${t.id}/ui/ai-sdk`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(resumed.status).toBe(200);
  await t.store.write(reviveDead, { id: t.id });
  const fence = await claimNext(t.store);
  await storeAnswer(t.store, fence, "a1", "the answer");
  await end(t.store, fence);
  expect(await running).toMatchObject({
    answers: ["the answer"],
    exchange: { n: 1, state: "done" },
  });
  expect(textsOf(await resumed.text())).toBe("the answer");
});

it("[LIVE-72] ends when a message is withdrawn that waits for its turn", async () => {
  const t = await startSession();
  await t.client.queueExchange(t.id, "first");
  await claimNext(t.store);
  const running = run(t, "second");
  const chatting = chat(t, "third");
  await expect.poll(() => t.client.listExchanges(t.id)).toHaveLength(3);
  await t.client.withdrawExchange(t.id, 2);
  await t.client.withdrawExchange(t.id, 3);
  const ends = await Promise.all([running, chatting]);
  expect(ends[0]).toMatchObject({ answers: [], exchange: { state: "stopped" } });
  expect(ends[1]).toContain('"type":"abort"');
  expect(await t.client.getExchange(t.id, 1)).toMatchObject({ state: "running" });
});

it("[UI-40] does not end as an answered message when its session is deleted", async () => {
  const t = await startSession();
  const chatting = chat(t, "hello").catch(() => "cut");
  await expect.poll(() => readyOf(t.store)).toHaveLength(1);
  await t.client.deleteSession(t.id);
  expect(await chatting).not.toContain('"finish"');
  expect(t.log.filter(({ level }) => level === "error")).toEqual([]);
});
