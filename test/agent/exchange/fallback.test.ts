import { expect, it } from "vitest";

import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import type { Fallback } from "../../../src/core/model-settings.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { switchModel } from "../../../src/store/records/sessions/change.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { setLimits } from "../../../src/store/records/sessions/limits.ts";
import { setModelSettings } from "../../../src/store/records/sessions/model-settings.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { callsOf } from "../../helpers/sessions/model-calls.ts";
import { type Name, openProviders } from "../prefix/switch-bench.ts";

const CLAUDE = "anthropic:claude-opus-5-5";
const GPT = "openai:gpt-5.6";
const GROQ = "groq:llama";

type Answers = Partial<Record<Name, (index: number) => readonly Step[]>>;

const status = (code: number, rest: object = {}): Step => ({
  kind: "status",
  status: code,
  ...rest,
});

async function open(answers: Answers, fallback: Fallback | null = [GPT, GROQ]) {
  const bench = await openProviders(
    (name) => (index) => answers[name]?.(index) ?? [text(`answer of ${name}`)],
  );
  const { store, session } = bench;
  await store.write(switchModel, { id: session.id, model: CLAUDE });
  await store.write(setModelSettings, { id: session.id, settings: { fallback } });
  return {
    ...bench,
    asked: () => bench.order.map(({ to }) => to),
    notices: () =>
      bench.events.flatMap((event) =>
        event.type === "notice" && event.about === "fallback" ? event : [],
      ),
    lastExchange: async () =>
      (await store.read(listExchanges, { reference: session.id, limit: 1 }))[0],
    /** Models that the answers of the thread name. */
    stored: async () => {
      const saver = createCheckpointSaver({ store });
      const config = { configurable: { thread_id: threadId(session.id, 0) } };
      return messagesOf(await saver.getTuple(config)).flatMap(
        ({ response_metadata }) => Reflect.get(response_metadata, "reprise_model") ?? [],
      );
    },
  };
}

it.each<readonly [string, Step]>([
  ["an overload", status(529)],
  ["an error of the provider", status(500)],
  ["a limit with a long wait", status(429, { headers: { "retry-after": "1200" } })],
  ["a used-up quota", status(429, { error: { code: "insufficient_quota" } })],
  ["a model that it does not know", status(404)],
  ["a model that was shut down", status(410)],
  ["a broken connection", { kind: "drop" }],
  ["an overload within the stream", { kind: "error", cause: "overloaded" }],
])("[FALLBACK-1] [FALLBACK-4] after %s the next model answers", async (_, step) => {
  const bench = await open({ anthropic: () => [step] });
  const result = await bench.run({ text: "question" });
  expect(result).toMatchObject({ answer: "answer of openai", model: GPT });
  expect(bench.asked()).toEqual(["anthropic", "openai"]);
  expect(bench.notices()).toMatchObject([
    {
      model: GPT,
      sentence: expect.stringMatching(/, so openai:gpt-5\.6 answers until this exchange ends\.$/),
    },
  ]);
  expect(await bench.lastExchange()).toMatchObject({
    state: "done",
    model: CLAUDE,
    fallback_model: GPT,
  });
  expect(await bench.stored()).toEqual([GPT]);
  expect(bench.providers.openai.refusals()).toEqual([]);
});

it.each<readonly [string, readonly Step[], string]>([
  ["a key that is refused", [status(401)], "model_unauthorized"],
  ["a model that the account may not use", [status(403)], "model_unauthorized"],
  ["a request that is refused", [status(400)], "model_failed"],
  [
    "a context that is full",
    [status(400, { error: { message: "prompt is too long: 5 tokens > 4 maximum" } })],
    "model_context_full",
  ],
  ["a refusal of the model", [text("No"), { kind: "stop", reason: "refused" }], "model_refused"],
  ["text that was shown", [text("half"), { kind: "drop" }], "model_unreachable"],
  ["reasoning that was shown", [reasoning("Hm."), { kind: "drop" }], "model_unreachable"],
])("[FALLBACK-2] after %s no other model is asked", async (_, steps, code) => {
  const bench = await open({ anthropic: () => steps });
  await expect(bench.run({ text: "question" })).rejects.toMatchObject({ code });
  expect(new Set(bench.asked())).toEqual(new Set(["anthropic"]));
  expect(bench.notices()).toEqual([]);
  expect(await bench.lastExchange()).toMatchObject({ state: "failed", fallback_model: null });
});

it("[FALLBACK-1] the call is repeated first", async () => {
  const bench = await open({ anthropic: () => [status(529)] });
  const { createExchanger } = await import("../../../src/agent/exchange.ts");
  const { parts, session } = bench;
  const models = { ...parts.models, retries: 2, retryDelayMs: 1 };
  const exchanger = createExchanger({ ...parts, models });
  const live = { listener: () => undefined, signal: new AbortController().signal };
  await exchanger.exchange({ session_id: session.id, text: "question" }, live);
  expect(bench.asked()).toEqual(["anthropic", "anthropic", "anthropic", "openai"]);
});

it("[FALLBACK-3] the other model stays until the exchange ends, and the first one is asked in the next", async () => {
  let isDown = false;
  const calls = (name: Name) => (index: number) =>
    index < 2
      ? [reasoning(`Thought ${index} of ${name}.`), call("list_files", { path: "." })]
      : [text(`answer of ${name}`)];
  const bench = await open({
    anthropic: (index) => {
      const steps: readonly Step[] = isDown ? [status(529)] : calls("anthropic")(index);
      isDown = true;
      return steps;
    },
    openai: calls("openai"),
  });
  expect((await bench.run({ text: "one" })).answer).toBe("answer of openai");
  const first = ["anthropic", "anthropic", "openai", "openai", "openai"];
  expect(bench.asked()).toEqual(first);
  isDown = false;
  expect((await bench.run({ text: "two" })).answer).toBe("answer of anthropic");
  expect(bench.asked()).toEqual([...first, "anthropic"]);
  expect(await bench.lastExchange()).toMatchObject({ model: CLAUDE, fallback_model: null });
  expect(await bench.stored()).toEqual([GPT, GPT, GPT]);
  for (const name of ["anthropic", "openai"] as const) {
    expect(bench.providers[name].refusals()).toEqual([]);
    expect(bench.providers[name].received.flatMap(({ dropped }) => dropped)).toEqual([]);
  }
});

it("[FALLBACK-5] a model that cannot be opened is skipped, and the error says so", async () => {
  const bench = await open({ anthropic: () => [status(529)] }, [
    "mistral:mistral-large",
    "nobody:nothing",
  ]);
  await expect(bench.run({ text: "question" })).rejects.toMatchObject({
    code: "model_failed",
    message: expect.stringMatching(
      /^Anthropic reported an error .*The fallback mistral:mistral-large was skipped: This model needs a key\. Set MISTRAL_API_KEY.*The fallback nobody:nothing was skipped: There is no provider/,
    ),
  });
  expect(await bench.lastExchange()).toMatchObject({
    error_sentence: expect.stringContaining("MISTRAL_API_KEY"),
  });
});

it("[FALLBACK-5] if no model can answer, the error is the last one's and names those before", async () => {
  const bench = await open({
    anthropic: () => [status(429, { headers: { "retry-after": "1200" } })],
    openai: () => [status(500)],
    groq: () => [status(401)],
  });
  await expect(bench.run({ text: "question" })).rejects.toMatchObject({
    code: "model_unauthorized",
    message: expect.stringMatching(
      /^Groq refused the key.*Before it, anthropic:claude-opus-5-5 failed: Anthropic is rate-limiting your requests \(status 429.*\)\. Before it, openai:gpt-5\.6 failed: The OpenAI service reported/,
    ),
  });
  expect(bench.notices().map(({ model }) => model)).toEqual([GPT, GROQ]);
  expect(await bench.lastExchange()).toMatchObject({ state: "failed", fallback_model: GROQ });
});

it("[FALLBACK-1] [RETRY-10] while a model is known to wait, it is not asked", async () => {
  const bench = await open({
    anthropic: () => [status(429, { headers: { "retry-after": "1200" } })],
  });
  await bench.run({ text: "one" });
  await bench.run({ text: "two" });
  expect(bench.asked()).toEqual(["anthropic", "openai", "openai"]);
  expect(bench.notices()).toHaveLength(2);
});

it("[FALLBACK-4] [FALLBACK-5] each call is billed as one of its model, and one without a price is skipped under a limit of costs", async () => {
  const bench = await open({ anthropic: () => [status(529)] });
  await bench.run({ text: "one" });
  const { store, session } = bench;
  expect((await callsOf(store, session.id)).map(({ model }) => model)).toEqual([GPT]);
  await store.write(setLimits, { id: session.id, prices: { session: 1_000_000_000 } });
  await store.write(setModelSettings, { id: session.id, settings: { fallback: [GROQ] } });
  await expect(bench.run({ text: "two" })).rejects.toMatchObject({
    code: "model_failed",
    message: expect.stringContaining("The fallback groq:llama was skipped: "),
  });
});

it("[FALLBACK-6] a summary falls back too", async () => {
  const bench = await open({ anthropic: (index) => (index < 2 ? [text("said")] : [status(529)]) });
  await bench.run({ text: "one" });
  await bench.run({ text: "two" });
  const { createExchanger } = await import("../../../src/agent/exchange.ts");
  const { signal } = new AbortController();
  const exchanger = createExchanger(bench.parts);
  const request = { session_id: bench.session.id };
  expect(await exchanger.compact(request, { signal })).toMatchObject({ outcome: "compacted" });
  expect(bench.asked()).toEqual(["anthropic", "anthropic", "anthropic", "openai"]);
});

it("[FALLBACK-6] a sub-agent has the fallback of its parent", async () => {
  const bench = await open({
    anthropic: () => [status(529)],
    openai: (index) =>
      index === 0 ? [call("delegate", { persona: "assistant", task: "look" })] : [text("seen")],
  });
  expect((await bench.run({ text: "question" })).answer).toBe("seen");
  expect(bench.asked()).toEqual(["anthropic", "openai", "anthropic", "openai", "openai"]);
});
