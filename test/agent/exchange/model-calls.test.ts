import { describe, expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import type { CacheLife } from "../../../src/core/model-settings.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { usageOfSession } from "../../../src/store/records/model-calls/read-usage.ts";
import { setModelSettings } from "../../../src/store/records/sessions/model-settings.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { costOf, PRICES } from "../../helpers/providers/prices.ts";
import type { Received, Script } from "../../helpers/providers/server.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { callsOf } from "../../helpers/sessions/model-calls.ts";
import { openBound } from "../prefix/bound-bench.ts";
import { isSummaryRequest } from "../prefix/requests.ts";

const SONNET = "claude-sonnet-5-5";
const live = { listener: () => undefined, signal: new AbortController().signal };

async function usage({ store, session }: Pick<Bench, "store" | "session">) {
  return store.read((tx) => usageOfSession(tx, session.id), null);
}

/** What the mock has counted of its answers, in the form of a row. */
function counted({ usage: own }: Received) {
  return {
    input:
      (own?.input ?? 0) +
      (own?.cacheRead ?? 0) +
      (own?.cacheWrite5m ?? 0) +
      (own?.cacheWrite1h ?? 0),
    cache_read: own?.cacheRead,
    cache_write_5m: own?.cacheWrite5m,
    cache_write_1h: own?.cacheWrite1h,
    output: own?.output,
    reasoning: own?.reasoning,
  };
}

async function expectSound({ store, session }: Pick<Bench, "store" | "session">) {
  expect((await verifySession(store, session.id)).findings).toEqual([]);
}

const reading: Script = (_index, body) =>
  isSummaryRequest(body)
    ? [text("A summary.")]
    : body.includes("tool_result")
      ? [reasoning("I have the files now."), text("There are none.")]
      : [reasoning("I list the files."), call("list_files", { path: "." })];

describe("a row of model_calls", () => {
  it.each<CacheLife>(["5m", "1h", "off"])(
    "[COST-1] [COST-2] has the exact counts and price of each request, with a cache of %s",
    async (cache) => {
      const bench = await openBound(reading, { model: SONNET });
      const { store, session, provider } = bench;
      await store.write(setModelSettings, { id: session.id, settings: { cache } });
      await bench.run({ text: "which files are there?" });
      await bench.run({ text: "and now?" });
      const calls = await callsOf(store, session.id);
      expect(calls).toMatchObject(
        provider.received.map((received) => ({
          ...counted(received),
          price_micros: costOf([received], PRICES[SONNET]!).micros,
          price_table: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
          model: `anthropic:${SONNET}`,
          ended: "whole",
        })),
      );
      expect(calls.map(({ n, call: number }) => [n, number])).toEqual([
        [1, 1],
        [1, 2],
        [2, 1],
      ]);
      expect(calls.some(({ reasoning: thought }) => (thought ?? 0) > 0)).toBe(true);
      const written = calls.map((row) => row[cache === "1h" ? "cache_write_1h" : "cache_write_5m"]);
      expect(Math.max(...written.map(Number)) > 0).toBe(cache !== "off");
      const prices = calls.map(({ price_micros }) => price_micros ?? 0);
      expect(await usage(bench)).toMatchObject({
        calls: 3,
        unpriced: 0,
        cost_micros: prices.reduce((sum, price) => sum + price, 0),
      });
      await expectSound(bench);
    },
  );

  it.each(["chat", "responses"] as const)(
    "[COST-1] has what %s has counted, and no price of a model without one",
    async (api) => {
      const provider = await startProvider("openai", () => [reasoning("hm"), text("Done.")]);
      onTestFinished(() => provider[Symbol.asyncDispose]());
      const bench = await openBench(
        { env: () => ({ ...provider.env }) },
        {},
        {
          models: modelConfig({ ...provider.env, REPRISE_MODEL: "openai:gpt-test" }, openAiAs(api)),
        },
      );
      await bench.run({ text: "hello" });
      const [received] = provider.received;
      const { input, output, reasoning: thought } = counted(received!);
      expect(await callsOf(bench.store, bench.session.id)).toMatchObject([
        { input, output, reasoning: thought, price_micros: null, price_table: null },
      ]);
      expect(await usage(bench)).toMatchObject({ calls: 1, unpriced: 1, cost_micros: null });
    },
  );

  it("[COST-3] keeps its price when prices change", async () => {
    const bench = await openBound(() => [text("Done.")], { model: SONNET });
    await bench.run({ text: "one" });
    const [before] = await callsOf(bench.store, bench.session.id);
    const overrides = {
      [`anthropic:${SONNET}`]: { price: { input: 1000, output: 1000, cache_read: 1000 } },
    };
    const { parts, session, store } = bench;
    const exchanger = createExchanger({ ...parts, models: { ...parts.models, overrides } });
    await exchanger.exchange({ session_id: session.id, text: "two" }, live);
    const [first, second] = await callsOf(store, session.id);
    expect(first).toEqual(before);
    expect(second).toMatchObject({ price_table: "config" });
    expect(second?.price_micros ?? 0).toBeGreaterThan(100 * (first?.price_micros ?? 0));
  });

  it("[COST-1] is there for a summary that was asked for, outside of any exchange", async () => {
    const bench = await openBound(reading, { model: SONNET });
    const { store, session, parts, provider } = bench;
    for (const question of ["one", "two"]) {
      await bench.run({ text: question });
    }
    const compacted = await createExchanger(parts).compact({ session_id: session.id }, live);
    expect(compacted.outcome).toBe("compacted");
    const calls = await callsOf(store, session.id);
    expect(calls.map(({ n }) => n)).toEqual([0, 1, 1, 2]);
    const last = provider.received.at(-1)!;
    expect(calls[0]).toMatchObject({
      ...counted(last),
      price_micros: costOf([last], PRICES[SONNET]!).micros,
    });
    await expectSound(bench);
  });

  const STOPS: readonly (readonly [string, readonly Step[], string, string])[] = [
    ["refused", [text("No"), { kind: "stop", reason: "refused" }], "refused", "model_refused"],
    ["cut", [{ kind: "stop", reason: "length" }], "cut", "answer_cut"],
  ];
  it.each(STOPS)("[COST-4] is there for an answer that is %s", async (_, steps, ended, code) => {
    const bench = await openBound(() => steps, { model: SONNET });
    await expect(bench.run({ text: "hello" })).rejects.toMatchObject({ code });
    const received = bench.provider.received[0]!;
    expect((await callsOf(bench.store, bench.session.id))[0]).toMatchObject({
      ...counted(received),
      ended,
      price_micros: costOf([received], PRICES[SONNET]!).micros,
    });
    await expectSound(bench);
  });

  it("[COST-4] is there for a request that failed in mid-answer and was repeated, and for none that was refused", async () => {
    const answers: readonly (readonly Step[])[] = [
      [{ kind: "status", status: 529, error: { type: "overloaded_error" } }],
      [text("begun"), { kind: "error", cause: "overloaded" }],
      [text("Done.")],
    ];
    const bench = await openBound((index) => answers[index]!, { model: SONNET });
    const { parts, session, store } = bench;
    const models = { ...parts.models, retryDelayMs: 1 };
    await createExchanger({ ...parts, models }).exchange(
      { session_id: session.id, text: "hello" },
      live,
    );
    const calls = await callsOf(store, session.id);
    expect(calls.map(({ ended, call: number }) => [ended, number])).toEqual([
      ["failed", 1],
      ["whole", 2],
    ]);
    expect(calls[0]).toMatchObject({ output: null, price_micros: null });
    expect(calls[0]?.input).toBe(calls[1]?.input);
    expect(await usage(bench)).toMatchObject({
      calls: 2,
      unpriced: 1,
      cost_micros: calls[1]?.price_micros,
    });
    await expectSound(bench);
  });

  it("[COST-5] has null for what a stopped answer has not counted", async () => {
    const stop = new AbortController();
    const begun = Promise.withResolvers<void>();
    const bench = await openBound(
      () => [text("I begin"), { kind: "wait", until: begun.promise }, text(" and end.")],
      { model: SONNET },
    );
    const { state } = await bench.run(
      { text: "hello" },
      {
        signal: stop.signal,
        listener: ({ type }) => {
          if (type === "text") {
            stop.abort();
          }
        },
      },
    );
    begun.resolve();
    expect(state).toBe("stopped");
    const calls = await callsOf(bench.store, bench.session.id);
    expect(calls).toMatchObject([
      { n: 1, ended: "stopped", output: null, reasoning: null, price_micros: null },
    ]);
    expect(calls[0]?.input).toBeGreaterThan(0);
    expect(await usage(bench)).toMatchObject({ calls: 1, unpriced: 1, cost_micros: null });
    await expectSound(bench);
  });

  it("[COST-1] is in the session of the sub-agent that made the request", async () => {
    const bench = await openBound(
      (_index, body) =>
        body.includes("tool_result") || !body.includes("ask the child")
          ? [text("Done.")]
          : [call("delegate", { task: "count" })],
      { model: SONNET },
    );
    await bench.run({ text: "ask the child" });
    const rows = await bench.store.read(
      ({ db }) => db.selectFrom("model_calls").select(["session_id", "n"]).execute(),
      null,
    );
    expect(rows).toHaveLength(3);
    expect(rows.filter(({ session_id }) => session_id === bench.session.id)).toHaveLength(2);
  });

  it("[COST-6] is stored once, whichever write of an exchange its process dies at", async () => {
    const bench = await openBound(reading, { model: SONNET });
    const { store, session, parts, provider } = bench;
    for (let at = 1; at <= 8; at += 1) {
      for (const when of ["before", "after"] as const) {
        const dying = dyingStore(store, at, when);
        const request = { session_id: session.id, when_busy: "take_over" as const };
        const run = createExchanger({ ...parts, store: dying.store })
          .exchange({ ...request, text: `question ${at} ${when}` }, live)
          .catch(() => undefined);
        await Promise.race([run, dying.dead]);
        dying.bury();
        await run;
        await createExchanger(parts)
          .exchange({ ...request, text: null }, live)
          .catch(() => undefined);
      }
    }
    const { received } = provider;
    const calls = await callsOf(store, session.id);
    const messages = await store.read(
      ({ db }) => db.selectFrom("messages").select("seq").where("role", "=", "assistant").execute(),
      null,
    );
    // an answer that no write had stored was asked for again
    expect(calls).toHaveLength(messages.length);
    expect(calls.length).toBeLessThanOrEqual(received.length);
    await expectSound(bench);
  });
});
