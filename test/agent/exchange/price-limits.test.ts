import { describe, expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import type { LimitScope, ScopedLimits } from "../../../src/core/cost/limits.ts";
import { localPrincipal } from "../../../src/core/principal.ts";
import { openReprise } from "../../../src/library/open-reprise.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { readLimitUse, setLimits } from "../../../src/store/records/sessions/limits.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createDatabase } from "../../helpers/database.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { clock } from "../../helpers/graphs.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { call, type Step, text } from "../../helpers/providers/steps.ts";
import { callsOf } from "../../helpers/sessions/model-calls.ts";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";

/** Each call costs 100 micro-dollars. */
const USAGE = { prompt_tokens: 90, completion_tokens: 10, total_tokens: 100 };
const PRICE = { input: 1, output: 1, cache_read: 1 };
const NAME = "openai:gpt-test";

function listing(id: string): ModelAnswer {
  return {
    toolCalls: [{ id, name: "list_files", arguments: '{"path":"."}' }],
    usage: USAGE,
  };
}

async function benchWith(
  limits: ScopedLimits,
  answer: (messages: readonly SentMessage[]) => ModelAnswer,
) {
  const server = await startModelServer({ answer });
  const env = { ...server.env("openai"), REPRISE_MODEL: NAME, REPRISE_CONTEXT_TOKENS: "128000" };
  const models = { ...modelConfig(env), overrides: { [NAME]: { price: PRICE } } };
  const bench = await openBench(server, {}, { models });
  await bench.store.write(setLimits, { id: bench.session.id, prices: limits });
  return { bench, server };
}

/** An agent that calls a tool `rounds` times in each exchange. */
function benchOf(limits: ScopedLimits, rounds: number) {
  return benchWith(limits, (messages) => {
    const since = messages.length - messages.findLastIndex(({ role }) => role === "user") - 1;
    return since < 2 * rounds
      ? listing(`call_${messages.length}`)
      : { content: "done", usage: USAGE };
  });
}

async function lastRecord({ store, session }: Bench) {
  const [record] = await store.read(listExchanges, { reference: session.id, limit: 1 });
  return record;
}

describe("a limit of the price", () => {
  it("[COST-8] ends an exchange before the call that comes after it is reached", async () => {
    const { bench, server } = await benchOf({ exchange: 300 }, 5);
    await expect(bench.run({ text: "begin" })).rejects.toMatchObject({
      code: "price_limit_reached",
      message:
        "The exchange and its sub-agents have cost $0.0003 of the $0.0003 that an exchange may cost. Continue it to let it cost as much again, or set another limit with --price-limit exchange=<USD>.",
    });
    expect(server.requests()).toHaveLength(3);
    expect(await lastRecord(bench)).toMatchObject({
      state: "failed",
      error_code: "price_limit_reached",
    });
    // as much again: two more rounds and the answer
    expect((await bench.run({ text: null })).answer).toBe("done");
    expect(server.requests()).toHaveLength(6);
    // the next exchange has all of it
    const again = bench.run({ text: "again" });
    await expect(again).rejects.toMatchObject({ code: "price_limit_reached" });
    expect(server.requests()).toHaveLength(9);
    expect((await verifySession(bench.store, bench.session.id)).findings).toEqual([]);
  });

  it.each(["session", "tree"] as const)(
    "[COST-8] of the %s counts all its exchanges, and can be raised",
    async (scope) => {
      const { bench, server } = await benchOf({ [scope]: 400 }, 1);
      await bench.run({ text: "one" });
      await bench.run({ text: "two" });
      const failed = {
        code: "price_limit_reached",
        message: expect.stringContaining(`--price-limit ${scope}=<USD>`),
      };
      await expect(bench.run({ text: "three" })).rejects.toMatchObject(failed);
      await expect(bench.run({ text: null })).rejects.toMatchObject(failed);
      expect(server.requests()).toHaveLength(4);
      await bench.store.write(setLimits, { id: bench.session.id, prices: { [scope]: 600 } });
      expect((await bench.run({ text: null })).answer).toBe("done");
    },
  );

  it.each(["exchange", "session", "tree"] as const)(
    "[COST-8] of the %s counts sub-agents as its name says",
    async (scope) => {
      const { bench, server } = await benchWith({ [scope]: 500 }, (messages) => {
        if (messages.some(({ content }) => content === "the task")) {
          return listing(`child_${messages.length}`);
        }
        const delegated = JSON.stringify({ persona: "assistant", task: "the task" });
        const calls = ["a", "b"].map((id) => ({ id, name: "delegate", arguments: delegated }));
        return messages.at(-1)?.role === "tool"
          ? { content: "done", usage: USAGE }
          : { toolCalls: calls, usage: USAGE };
      });
      const { store, session } = bench;
      const limits = { children: 10, childrenAtOnce: 2, modelCalls: 12 };
      const exchanger = createExchanger({ ...bench.parts, limits });
      const failing = exchanger.exchange(
        { session_id: session.id, text: "begin" },
        { listener: () => undefined, signal: new AbortController().signal },
      );
      const code = scope === "session" ? "call_limit_reached" : "price_limit_reached";
      await expect(failing).rejects.toMatchObject({ code });
      const use = await store.read(readLimitUse, { id: session.id });
      const requests = server.requests().length;
      if (scope === "session") {
        expect(use.session_price).toMatchObject({ used: 100, limit: 500 });
      } else {
        expect([5, 6]).toContain(requests);
      }
      const { sessions } = await store.read(listSessions, { limit: 10 });
      const calls = await Promise.all(sessions.map(({ id }) => callsOf(store, id)));
      expect(calls.flat()).toHaveLength(requests);
      if (scope === "tree") {
        expect(use.tree_price).toMatchObject({ used: requests * 100, limit: 500 });
      }
    },
  );

  it.each<LimitScope>(["exchange", "session", "tree"])(
    "[COST-9] of the %s is a question in an exchange that a terminal began",
    async (scope) => {
      const { bench, server } = await benchOf({ [scope]: 300 }, 5);
      const { store, session } = bench;
      const principal = localPrincipal("terminal", null);
      const answer = async (choice: string) => {
        const [question] = await store.read(listOpenQuestions, { reference: session.id });
        await store.write(answerQuestion, {
          reference: session.id,
          question: question?.id ?? "",
          given: { choice },
          note: null,
          answered_by: "http",
        });
        return question;
      };
      expect((await bench.run({ text: "begin", principal })).state).toBe("waiting");
      expect(server.requests()).toHaveLength(3);
      expect(await answer("continue")).toMatchObject({
        kind: "limit",
        text: expect.stringContaining("cost $0.0003 of the $0.0003"),
        choices: [{ id: "continue", meaning: "$0.0003 more may be used." }, { id: "stop" }],
      });
      expect((await bench.run({ text: null, principal })).answer).toBe("done");
      expect((await bench.run({ text: "again", principal })).state).toBe("waiting");
      await answer("stop");
      const failing = bench.run({ text: null, principal });
      await expect(failing).rejects.toMatchObject({ code: "price_limit_reached" });
    },
  );

  it("[COST-11] is refused before the first request of a model without a known price", async () => {
    const server = await startModelServer({ answer: () => ({ content: "done", usage: USAGE }) });
    const bench = await openBench(server);
    await bench.store.write(setLimits, { id: bench.session.id, prices: { tree: 1_000_000 } });
    const failed = {
      code: "price_unknown",
      message: `The session has a limit of its price, and the price of ${NAME} is unknown, so nothing was sent. Set its price in \`models\` of the config, or choose another model.`,
    };
    await expect(bench.run({ text: "begin" })).rejects.toMatchObject(failed);
    expect(server.requests()).toHaveLength(0);
    expect(await lastRecord(bench)).toBeUndefined();
    await bench.store.write(setLimits, { id: bench.session.id, prices: { tree: null } });
    expect((await bench.run({ text: "begin" })).answer).toBe("done");
  });
});

describe("an answer whose usage is not reported", () => {
  const unknown = {
    code: "price_unknown",
    message: `The session has a limit of its price, and the provider did not say what an answer of ${NAME} has used, so its price is unknown. The answer is stored. Continue to accept that, or choose another model.`,
  };

  async function silent(script: Script, limits: ScopedLimits = { session: 1_000_000 }) {
    const provider = await startProvider("openai", script, { quirks: { noUsage: true } });
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const models = {
      ...modelConfig({ ...provider.env, REPRISE_MODEL: NAME }),
      overrides: { [NAME]: { price: PRICE } },
    };
    const bench = await openBench({ env: () => ({}) }, {}, { models });
    await bench.store.write(setLimits, { id: bench.session.id, prices: limits });
    return { bench, provider };
  }

  it("[COST-20] ends an exchange with a limit of the price once it is stored, and continuing accepts it", async () => {
    const steps = [[call("list_files", { path: "." })], [text("done")], [text("more")]];
    const { bench, provider } = await silent((index) => steps[index] ?? []);
    await expect(bench.run({ text: "begin" })).rejects.toMatchObject(unknown);
    // its call ran, and nothing was asked with the result
    expect(provider.requests).toHaveLength(1);
    expect(await lastRecord(bench)).toMatchObject({ state: "failed", error_code: "price_unknown" });
    await expect(bench.run({ text: null })).rejects.toMatchObject(unknown);
    expect(provider.requests).toHaveLength(2);
    expect((await bench.run({ text: null })).answer).toBe("done");
    expect(provider.requests).toHaveLength(2);
    const { store, session } = bench;
    await store.write(setLimits, { id: session.id, prices: { session: null } });
    expect((await bench.run({ text: "again" })).answer).toBe("more");
    expect((await verifySession(store, session.id)).findings).toEqual([]);
  });

  it("[COST-20] of a sub-agent ends the exchange above it", async () => {
    const task = { persona: "assistant", task: "the task" };
    const { bench, provider } = await silent(
      (index) => (index === 0 ? [call("delegate", task)] : [text("done")]),
      { tree: 1_000_000 },
    );
    await expect(bench.run({ text: "begin" })).rejects.toMatchObject(unknown);
    expect(provider.requests).toHaveLength(1);
    await expect(bench.run({ text: null })).rejects.toMatchObject(unknown);
    expect(provider.requests).toHaveLength(2);
  });

  it("[COST-20] ends nothing if it failed and was asked for again", async () => {
    const { bench } = await benchWith({ session: 1_000_000 }, () => ({ content: "unused" }));
    const broken: readonly Step[] = [text("half"), { kind: "drop" }];
    const provider = await startProvider("openai", (index) =>
      index === 0 ? broken : [text("done")],
    );
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const models = {
      ...bench.parts.models,
      ...modelConfig({ ...provider.env, REPRISE_MODEL: NAME }),
      overrides: { [NAME]: { price: PRICE } },
      retryDelayMs: 1,
    };
    const exchanger = createExchanger({ ...bench.parts, models });
    const result = await exchanger.exchange(
      { session_id: bench.session.id, text: "begin" },
      { listener: () => undefined, signal: new AbortController().signal },
    );
    expect(result).toMatchObject({ answer: "done" });
    expect(await callsOf(bench.store, bench.session.id)).toMatchObject([
      { ended: "failed", price_micros: null },
      { ended: "whole" },
    ]);
  });
});

describe("the requests of a graph of somebody else", () => {
  async function graphOf(model: string, limit: number) {
    const server = await startModelServer({
      answer: (_, index) => ({
        toolCalls: [{ id: `call_${index}`, name: "clock", arguments: "{}" }],
        usage: { prompt_tokens: 90_000, completion_tokens: 10_000, total_tokens: 100_000 },
      }),
    });
    return { server, ...(await graphAt(server.env("openai"), model, limit)) };
  }

  async function graphAt(env: Readonly<Record<string, string>>, model: string, limit: number) {
    const { location } = await createDatabase();
    const reprise = await openReprise(location);
    onTestFinished(() => reprise.close());
    const { id } = await reprise.sessions.create({ price_limits: { exchange: limit } });
    const { OPENAI_BASE_URL: baseURL = "", OPENAI_API_KEY: apiKey = "" } = env;
    const client = new ChatOpenAI({
      model,
      apiKey,
      configuration: { baseURL },
      useResponsesApi: false,
    });
    const agent = createAgent({ name: "watch", tools: [clock], model: client });
    return { run: () => reprise.run(id, agent, "what time is it?") };
  }

  it("[COST-12] have a price of the table, and a limit of it ends the exchange", async () => {
    const { server, run } = await graphOf("gpt-5-mini", 60_000);
    await expect(run()).rejects.toMatchObject({
      code: "price_limit_reached",
      message: expect.stringContaining("of the $0.06 that"),
    });
    // 90,000 tokens for $0.25, and 10,000 for $2.00 a million
    expect(server.requests()).toHaveLength(2);
  });

  it.each([
    ["its next request", 2, 1],
    ["its end", 1, 1],
  ])(
    "[COST-20] end the exchange if their usage is not reported, at %s",
    async (_, answers, requests) => {
      const steps = [call("clock", {}), text("it is late")].slice(2 - answers);
      const provider = await startProvider("openai", (index) => [steps[index] ?? text("?")], {
        quirks: { noUsage: true },
      });
      onTestFinished(() => provider[Symbol.asyncDispose]());
      const { run } = await graphAt(provider.env, "gpt-5-mini", 60_000);
      await expect(run()).rejects.toMatchObject({ code: "price_unknown" });
      expect(provider.requests).toHaveLength(requests);
    },
  );

  it("[COST-12] [COST-11] are refused with a limit of the price if their price is unknown", async () => {
    const { server, run } = await graphOf("gpt-test", 60_000);
    await expect(run()).rejects.toMatchObject({ code: "price_unknown" });
    expect(server.requests()).toHaveLength(0);
  });
});
