import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { parseRetryAfter } from "../../../src/agent/models/provider-error.ts";
import type { ExchangeEvent } from "../../../src/exchange/events.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { refusedUrl } from "../../helpers/provider-server.ts";
import {
  type ProviderName,
  PROVIDERS,
  startScriptedProvider,
  type Step,
} from "../../helpers/scripted-provider.ts";

const WHOLE: readonly Step[] = [{ kind: "text", text: "the whole answer" }];
const HALF: readonly Step[] = [{ kind: "text", text: "half an ans" }, { kind: "drop" }];
const CALL: readonly Step[] = [
  { kind: "call", name: "read_file", args: '{"path":"a.txt"}', size: 4 },
];

function status(code: number, more: Pick<Step & { kind: "status" }, "headers" | "error"> = {}) {
  return [{ kind: "status", status: code, ...more }] as const;
}

/** A session whose provider plays these scripts, one for each request, and then answers. */
async function benchOf(
  scripts: readonly (readonly Step[])[],
  { name = "openai", retryDelayMs = 1 }: { name?: ProviderName; retryDelayMs?: number } = {},
) {
  const provider = await startScriptedProvider(name, (index) => scripts[index] ?? WHOLE);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const models = { ...modelConfig(provider.env), retryDelayMs };
  const bench = await openBench({ env: () => provider.env }, provider.env, { models });
  return { bench, provider };
}

function retriesOf({ events }: Bench) {
  return events.filter((event) => event.type === "retry");
}

/** Ids of answers with the text that was reported of them, in order. */
function textsOf(events: readonly ExchangeEvent[]): [string, string][] {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === "text") {
      texts.set(event.message_id, (texts.get(event.message_id) ?? "") + event.text);
    }
  }
  return [...texts];
}

describe("a provider that fails with a transient error", () => {
  it.each(PROVIDERS)("[RETRY-1] [RETRY-9] %s: is asked again, at most twice", async (name) => {
    const { bench, provider } = await benchOf([status(503), status(500)], { name });
    expect((await bench.run({ text: "question" })).answer).toBe("the whole answer");
    expect(provider.requests).toHaveLength(3);
    expect(retriesOf(bench)).toMatchObject([
      { attempt: 2, code: "model_failed", reason: expect.stringContaining("(status 503") },
      { attempt: 3, code: "model_failed", reason: expect.stringContaining("(status 500") },
    ]);
    expect(await expectNoDrift(bench.database, bench.session.id)).toHaveLength(2);
  });

  it.each(PROVIDERS)("[RETRY-1] %s: fails as before after the third attempt", async (name) => {
    const { bench, provider } = await benchOf([status(503), status(503), status(503)], { name });
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_failed",
      message: expect.stringMatching(
        /reported an error or is overloaded \(status 503.*\): "refused"\. Wait a moment\.$/,
      ),
    });
    expect(provider.requests).toHaveLength(3);
    expect(retriesOf(bench)).toHaveLength(2);
  });

  it.each([408, 409, 429])("[RETRY-2] is asked again after status %s", async (code) => {
    const { bench, provider } = await benchOf([status(code)]);
    await bench.run({ text: "question" });
    expect(provider.requests).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 422])(
    "[RETRY-2] is not asked again after status %s",
    async (code) => {
      const { bench, provider } = await benchOf([status(code)]);
      await expect(bench.run({ text: "question" })).rejects.toMatchObject({
        code: expect.stringMatching(/^model_/),
      });
      expect(provider.requests).toHaveLength(1);
      expect(retriesOf(bench)).toEqual([]);
    },
  );

  it("[RETRY-2] is not asked again if the quota is used up", async () => {
    const { bench, provider } = await benchOf([
      status(429, { error: { code: "insufficient_quota" } }),
    ]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_rate_limited",
    });
    expect(provider.requests).toHaveLength(1);
  });

  it("[RETRY-2] is asked again if it cannot be reached", async () => {
    const env = { OPENAI_BASE_URL: await refusedUrl(), OPENAI_API_KEY: "key" };
    const models = { ...modelConfig({ ...env, REPRISE_MODEL: "openai:x" }), retryDelayMs: 1 };
    const bench = await openBench({ env: () => env }, env, { models });
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_unreachable",
    });
    expect(retriesOf(bench)).toMatchObject([{ code: "model_unreachable" }, { attempt: 3 }]);
  });
});

describe("the wait before the next attempt", () => {
  it("[RETRY-3] doubles, with up to as much again by chance", async () => {
    const { bench } = await benchOf([status(503), status(503)], { retryDelayMs: 4 });
    await bench.run({ text: "question" });
    const [first = 0, second = 0] = retriesOf(bench).map(({ delay_ms }) => delay_ms);
    expect([first >= 4, first <= 8, second >= 8, second <= 16]).toEqual([true, true, true, true]);
  });

  it.each(["openai", "anthropic"] as const)(
    "[RETRY-4] %s: is what the provider asks for",
    async (name) => {
      const { bench } = await benchOf([status(429, { headers: { "retry-after": "1" } })], { name });
      await bench.run({ text: "question" });
      expect(retriesOf(bench)).toMatchObject([{ code: "model_rate_limited", delay_ms: 1000 }]);
    },
  );

  it("[RETRY-15] holds for every exchange of the process with this provider", async () => {
    let refusals = 0;
    const asked: number[] = [];
    const provider = await startScriptedProvider("openai", () => {
      asked.push(performance.now());
      refusals += 1;
      return refusals === 1 ? status(429, { headers: { "retry-after": "2" } }) : WHOLE;
    });
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const bench = await openBench({ env: () => provider.env }, provider.env);
    const other = await bench.store.write(createSession, {});
    const first = bench.run({ text: "question" });
    await expect.poll(() => retriesOf(bench).length).toBe(1);
    const second = bench.run({ text: "another", session_id: other.id });
    await Promise.all([first, second]);
    expect(asked).toHaveLength(3);
    // neither asked again before the provider wanted it
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(1900);
    const notices = bench.events.filter((event) => event.type === "notice");
    expect(notices).toMatchObject([
      { session_id: other.id, sentence: expect.stringContaining("is rate-limiting your requests") },
    ]);
  });

  it("[RETRY-15] [RETRY-5] a stop ends that wait", async () => {
    const { bench } = await benchOf([status(429, { headers: { "retry-after": "60" } })]);
    const stop = new AbortController();
    const first = bench.run({ text: "question" }, { signal: stop.signal });
    await expect.poll(() => retriesOf(bench).length).toBe(1);
    const other = await bench.store.write(createSession, {});
    const second = bench.run({ text: "another", session_id: other.id }, { signal: stop.signal });
    await expect.poll(() => bench.events.filter(({ type }) => type === "notice").length).toBe(1);
    stop.abort();
    expect((await first).state).toBe("stopped");
    expect((await second).state).toBe("stopped");
  });

  it("[RETRY-4] [RETRY-13] may be given as a date; anything else means nothing", () => {
    const now = Date.parse("2026-11-22T12:00:00Z");
    expect(parseRetryAfter("Sun, 22 Nov 2026 12:00:07 GMT", now)).toBe(7000);
    expect(parseRetryAfter("Sun, 22 Nov 2026 11:00:00 GMT", now)).toBe(0);
    expect(parseRetryAfter(" 1.5 ", now)).toBe(1500);
    for (const other of ["soon", "-3", "-1", "1 2", "+5", "gar bage 9", "", "9".repeat(20)]) {
      expect(parseRetryAfter(other, now), other).toBeNull();
    }
  });

  it.each([
    { asked: "61", wait: "61 seconds" },
    { asked: "3601", wait: "61 minutes" },
    { asked: "7201", wait: "3 hours" },
    { asked: "2678400", wait: "31 days" },
    { asked: "999999999", wait: "11575 days" },
  ])("[RETRY-10] [RETRY-14] is not $wait: the exchange fails and names it", async (one) => {
    const headers = { "retry-after": one.asked };
    const { bench, provider } = await benchOf([status(429, { headers })]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_rate_limited",
      message: expect.stringContaining(
        `): "refused". It asks to wait ${one.wait}. Try again after that.`,
      ),
    });
    expect(provider.requests).toHaveLength(1);
  });

  it.each([
    ["31 days", 31 * 86_400, expect.any(String)],
    ["longer", 32 * 86_400, null],
  ])("[LIMITED-7] has an end that can be waited for if it is %s", async (_, seconds, resets_at) => {
    const { bench } = await benchOf([status(429, { headers: { "retry-after": `${seconds}` } })]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_rate_limited",
      failure: { resets_at },
    });
  });

  it("[RETRY-10] a long one holds for other exchanges with the model, and not for other models", async () => {
    const { bench, provider } = await benchOf([
      status(429, { headers: { "retry-after": "3600" } }),
    ]);
    const limited = { code: "model_rate_limited" };
    await expect(bench.run({ text: "question" })).rejects.toMatchObject(limited);
    const same = await bench.store.write(createSession, {});
    const again = bench.run({ text: "another", session_id: same.id });
    await expect(again).rejects.toMatchObject(limited);
    expect(provider.requests).toHaveLength(1);
    const other = await bench.store.write(createSession, { model: "openai:gpt-other" });
    await bench.run({ text: "another", session_id: other.id });
    expect(provider.requests).toHaveLength(2);
  });

  it("[RETRY-5] ends at once when the exchange is stopped; the text that had arrived is kept", async () => {
    const { bench, provider } = await benchOf([HALF], { retryDelayMs: 3_600_000 });
    const stop = new AbortController();
    const result = await bench.run(
      { text: "question" },
      {
        signal: stop.signal,
        listener: (event) => {
          bench.events.push(event);
          if (event.type === "retry") {
            stop.abort();
          }
        },
      },
    );
    expect(result).toMatchObject({ state: "stopped", answer: "half an ans" });
    expect(provider.requests).toHaveLength(1);
    const [[id] = []] = textsOf(bench.events);
    expect(result.messages.at(-1)).toMatchObject({ message_id: id, content: "half an ans" });
  });
});

describe("an answer that broke off", () => {
  it.each(PROVIDERS)("[RETRY-6] [RETRY-11] %s: begins again with a new id", async (name) => {
    const { bench, provider } = await benchOf([HALF], { name });
    const { messages } = await bench.run({ text: "question" });
    expect(provider.requests).toHaveLength(2);
    const [broken, whole] = textsOf(bench.events);
    expect([broken?.[1], whole?.[1]]).toEqual(["half an ans", "the whole answer"]);
    expect(retriesOf(bench)).toMatchObject([{ message_id: broken?.[0], attempt: 2 }]);
    expect(messages.map(({ content }) => content)).toEqual(["question", "the whole answer"]);
    expect(messages.at(-1)?.message_id).toBe(whole?.[0]);
  });

  it("[RETRY-11] is kept as the last attempt left it if all break off", async () => {
    const last: readonly Step[] = [{ kind: "text", text: "the last" }, { kind: "drop" }];
    const { bench } = await benchOf([HALF, HALF, last]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_unreachable",
    });
    const rows = await expectNoDrift(bench.database, bench.session.id);
    expect(rows.map(({ content }) => content)).toEqual(["question", "the last"]);
    expect(rows.at(-1)?.message_id).toBe(textsOf(bench.events).at(-1)?.[0]);
  });

  it("[RETRY-6] never runs a tool twice", async () => {
    const { bench, provider } = await benchOf([CALL, HALF]);
    writeFileSync(join(bench.repo, "a.txt"), "text");
    expect((await bench.run({ text: "read" })).answer).toBe("the whole answer");
    expect(provider.requests).toHaveLength(3);
    expect(bench.events.filter(({ type }) => type === "tool_result")).toHaveLength(1);
  });

  it("[RETRY-7] in the place of a dropped one does not begin again within its exchange", async () => {
    const { bench, provider } = await benchOf([HALF, HALF, HALF, status(503), HALF]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_unreachable",
    });
    expect(provider.requests).toHaveLength(3);
    await expect(bench.run({ text: null })).rejects.toMatchObject({ code: "model_unreachable" });
    // without text it was asked again, with text it was not
    expect(provider.requests).toHaveLength(5);
    expect((await bench.run({ text: null })).answer).toBe("the whole answer");
    const rows = await expectNoDrift(bench.database, bench.session.id);
    expect(rows.map(({ content }) => content)).toEqual(["question", "the whole answer"]);
  });
});
