import { existsSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type RawApi,
  chatAnswer,
  claudeAnswer,
  type Content,
  ollamaAnswer,
  responsesAnswer,
  type RawAnswer,
  startRawProvider,
} from "../../helpers/raw-provider.ts";

/** An answer that ends for a reason; without one it has no end. */
const ANSWERS: Record<RawApi, (content: Content, reason?: string) => string> = {
  anthropic: (content, reason) =>
    claudeAnswer(content, reason === undefined ? undefined : { stop_reason: reason }),
  chat: chatAnswer,
  responses: responsesAnswer,
  ollama: ollamaAnswer,
};
const WHOLE: Record<RawApi, string> = {
  anthropic: "end_turn",
  chat: "stop",
  responses: "completed",
  ollama: "stop",
};
const CUT: Record<RawApi, string> = {
  anthropic: "max_tokens",
  chat: "length",
  responses: "incomplete max_output_tokens",
  ollama: "length",
};

function answerOf(api: RawApi, content: Content, reason?: string): string {
  return ANSWERS[api](content, reason);
}

const whole = (api: RawApi, text: string) => answerOf(api, { text }, WHOLE[api]);

/** A session whose provider sends these answers, one for each request, and then a whole one. */
async function benchOf(api: RawApi, answers: readonly RawAnswer[]) {
  const provider = await startRawProvider(
    api,
    (index) => answers[index] ?? whole(api, "the whole answer"),
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const asked = api === "responses" ? api : "chat";
  const models = { ...modelConfig(provider.env, openAiAs(asked)), retryDelayMs: 1 };
  const bench = await openBench({ env: () => provider.env }, provider.env, { models });
  return { bench, provider };
}

async function contents(bench: Bench): Promise<string[]> {
  const rows = await expectNoDrift(bench.database, bench.session.id);
  return rows.map(({ content }) => content);
}

async function lastMessage({ store, session }: Bench) {
  const saver = createCheckpointSaver({ store });
  const config = { configurable: { thread_id: threadId(session.id, 0) } };
  return messagesOf(await saver.getTuple(config)).at(-1);
}

async function activity({ store, session }: Bench): Promise<string> {
  return (await store.read(readSession, { id: session.id })).activity;
}

function sentIn(request: Record<string, unknown> | undefined): readonly unknown[] {
  const messages = request?.["messages"] ?? request?.["input"];
  return Array.isArray(messages) ? messages : [];
}

/** A message without marks of the cache, as one text. */
function withoutMarks(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message), (key, value: unknown) => {
    const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : null;
    const isText = key === "content" && typeof only === "object" && only !== null && "text" in only;
    return key === "cache_control" ? undefined : isText ? only.text : value;
  });
}

const EACH = ["anthropic", "chat", "responses", "ollama"] as const;
const HALF = "half an ans";

describe("the end of an answer", () => {
  it.each([
    ["anthropic", "end_turn"],
    ["anthropic", "stop_sequence"],
    ["anthropic", "tool_use"],
    ["chat", "stop"],
    ["chat", "tool_calls"],
    ["chat", "function_call"],
    ["chat", "STOP"],
    ["responses", "completed"],
    ["ollama", "stop"],
  ] as const)("[ANSWER-24] %s: %s is a whole answer", async (api, reason) => {
    const { bench, provider } = await benchOf(api, [answerOf(api, { text: "all of it" }, reason)]);
    expect(await bench.run({ text: "question" })).toMatchObject({
      state: "done",
      answer: "all of it",
    });
    expect(provider.requests).toHaveLength(1);
    expect(await contents(bench)).toEqual(["question", "all of it"]);
    expect((await lastMessage(bench))?.response_metadata).not.toHaveProperty("reprise_end");
  });

  it.each([
    ["anthropic", "max_tokens"],
    ["chat", "length"],
    ["responses", "incomplete max_output_tokens"],
    ["responses", "incomplete"],
    ["ollama", "length"],
  ] as const)(
    "[ANSWER-25] %s: %s is continued once, with what has come of it",
    async (api, reason) => {
      const { bench, provider } = await benchOf(api, [answerOf(api, { text: HALF }, reason)]);
      expect(await bench.run({ text: "question" })).toMatchObject({
        state: "done",
        answer: `${HALF}the whole answer`,
      });
      expect(provider.requests).toHaveLength(2);
      const second = JSON.stringify(provider.requests[1]);
      expect(second).toContain(HALF);
      expect(second).toContain("Continue it exactly where it ends");
      expect(await contents(bench)).toEqual(["question", HALF, "the whole answer"]);

      // what was sent before is sent again, the same
      await bench.run({ text: "and now?" });
      const messages = provider.requests.map((request) => sentIn(request).map(withoutMarks));
      const [, before = [], now = []] = messages;
      expect(now.slice(0, before.length)).toEqual(before);
      expect(now.length).toBe(before.length + 2);
    },
  );

  it.each(EACH)(
    "[ANSWER-25] [ANSWER-26] %s: an answer that is cut off again fails its exchange, which can be continued",
    async (api) => {
      const cut = (text: string) => answerOf(api, { text }, CUT[api]);
      const { bench, provider } = await benchOf(api, [cut("one, "), cut("two, "), cut("three, ")]);
      await expect(bench.run({ text: "question" })).rejects.toMatchObject({ code: "answer_cut" });
      expect(provider.requests).toHaveLength(2);
      expect(await contents(bench)).toEqual(["question", "one, ", "two, "]);
      expect(await activity(bench)).toBe("interrupted");
      await expect(bench.run({ text: null })).rejects.toMatchObject({ code: "answer_cut" });
      expect(provider.requests).toHaveLength(3);
      expect(JSON.stringify(provider.requests[2])).toContain("two, ");
      expect(await bench.run({ text: null })).toMatchObject({
        state: "done",
        answer: "one, two, three, the whole answer",
      });
      expect(await contents(bench)).toEqual([
        "question",
        "one, ",
        "two, ",
        "three, ",
        "the whole answer",
      ]);
      expect(await activity(bench)).toBe("idle");
    },
  );

  it("[ANSWER-26] a message after an answer that was cut off follows it, without a request to continue", async () => {
    const cut = chatAnswer({ text: HALF }, "length");
    const { bench, provider } = await benchOf("chat", [cut, cut]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({ code: "answer_cut" });
    await bench.run({ text: "something else" });
    const sent = JSON.stringify(provider.requests[2]);
    expect(sent).toContain("something else");
    expect(sent.match(/Continue it exactly/g)).toHaveLength(1);
  });

  it.each(EACH)(
    "[ANSWER-27] %s: no call of an answer that was cut off is run; the exchange fails with its text kept",
    async (api) => {
      const calls = [
        { name: "write_file", args: '{"path":"a.txt","content":"whole"}' },
        ...(api === "ollama"
          ? []
          : [{ name: "write_file", args: '{"path":"b.txt","content":"half of' }]),
      ];
      const { bench, provider } = await benchOf(api, [
        answerOf(api, { reasoning: "hm", text: "I write.", calls }, CUT[api]),
      ]);
      await expect(bench.run({ text: "write" })).rejects.toMatchObject({ code: "answer_cut" });
      expect(provider.requests).toHaveLength(1);
      expect(existsSync(join(bench.repo, "a.txt"))).toBe(false);
      expect(existsSync(join(bench.repo, "b.txt"))).toBe(false);
      expect(await contents(bench)).toEqual(["write", "I write."]);
      expect((await bench.run({ text: null })).state).toBe("done");
      const sent = JSON.stringify(provider.requests[1]);
      expect(sent).toContain("none was run");
      expect(sent).not.toContain("a.txt");
    },
  );

  it.each(EACH)("[ANSWER-26] %s: an answer that was cut off before any text fails", async (api) => {
    const { bench, provider } = await benchOf(api, [answerOf(api, { reasoning: "hm" }, CUT[api])]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({ code: "answer_cut" });
    expect(await contents(bench)).toEqual(["question"]);
    expect((await bench.run({ text: null })).answer).toBe("the whole answer");
    expect(provider.requests).toHaveLength(2);
  });

  it.each([
    ["anthropic", "refusal"],
    ["chat", "content_filter"],
    ["chat", "SAFETY"],
    ["responses", "incomplete content_filter"],
  ] as const)("[ANSWER-28] %s: %s fails with model_refused", async (api, reason) => {
    const call = { name: "write_file", args: '{"path":"a.txt","content":"x"}' };
    const { bench, provider } = await benchOf(api, [
      answerOf(api, { text: HALF, calls: [call] }, reason),
    ]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({ code: "model_refused" });
    expect(existsSync(join(bench.repo, "a.txt"))).toBe(false);
    expect(await contents(bench)).toEqual(["question", HALF]);
    expect((await lastMessage(bench))?.response_metadata).toEqual({ dropped: "model_refused" });
    expect((await bench.run({ text: null })).answer).toBe("the whole answer");
    expect(JSON.stringify(provider.requests[1])).not.toContain(HALF);
    expect(await contents(bench)).toEqual(["question", "the whole answer"]);
  });

  it("[ANSWER-28] names the category of a refusal; one without content is not an empty answer", async () => {
    const stop_details = { type: "refusal", category: "cyber", explanation: "x" };
    const { bench } = await benchOf("anthropic", [
      claudeAnswer({}, { stop_reason: "refusal", stop_details }),
      chatAnswer({}),
    ]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_refused",
      message:
        "The model refuses to answer this (cyber). Change the request, or choose another model.",
    });
    expect(await contents(bench)).toEqual(["question"]);
  });

  it("[ANSWER-29] a full context is summarised, and the model asked again", async () => {
    const full = claudeAnswer({ text: HALF }, { stop_reason: "model_context_window_exceeded" });
    const { bench, provider } = await benchOf("anthropic", [
      whole("anthropic", "first"),
      whole("anthropic", "second"),
      full,
    ]);
    await bench.run({ text: "one" });
    await bench.run({ text: "two" });
    bench.events.length = 0;
    expect((await bench.run({ text: "three" })).answer).toBe("the whole answer");
    expect(provider.requests.length).toBeGreaterThan(4);
    const rows = await contents(bench);
    expect(rows).not.toContain(HALF);
    const text = bench.events.find((each) => each.type === "text");
    expect(bench.events).toContainEqual(
      expect.objectContaining({
        type: "retry",
        code: "model_context_full",
        message_id: text?.message_id,
      }),
    );
  });

  it("[ANSWER-29] fails if nothing can be summarised; the text that had arrived is kept", async () => {
    const full = claudeAnswer({ text: HALF }, { stop_reason: "model_context_window_exceeded" });
    const { bench } = await benchOf("anthropic", [full]);
    await expect(bench.run({ text: "one" })).rejects.toMatchObject({ code: "model_context_full" });
    expect(await contents(bench)).toEqual(["one", HALF]);
  });

  it("[ANSWER-30] a paused answer is sent back as it is, ten times at most", async () => {
    const pause = (text: string) =>
      claudeAnswer({ reasoning: "hm", text }, { stop_reason: "pause_turn" });
    const { bench, provider } = await benchOf("anthropic", [pause("one, "), pause("two, ")]);
    expect(await bench.run({ text: "question" })).toMatchObject({
      state: "done",
      answer: "one, two, the whole answer",
    });
    const last = sentIn(provider.requests[1]).at(-1);
    expect(last).toMatchObject({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "one, " },
      ],
    });
    const paused = await benchOf(
      "anthropic",
      Array.from({ length: 12 }, () => pause("again, ")),
    );
    await expect(paused.bench.run({ text: "question" })).rejects.toMatchObject({
      code: "answer_cut",
      message: expect.stringContaining("paused its answer 10 times"),
    });
    expect(paused.provider.requests).toHaveLength(10);
  });

  it.each([
    ["anthropic", undefined],
    ["chat", undefined],
    ["chat", "error"],
    ["chat", "insufficient_system_resource"],
    ["responses", undefined],
    ["responses", "failed"],
    ["responses", "cancelled"],
    ["ollama", undefined],
    ["ollama", "load"],
  ] as const)(
    "[ANSWER-31] %s: an answer that ends with %s is asked for again",
    async (api, reason) => {
      const broken = answerOf(api, { text: HALF }, reason);
      const { bench, provider } = await benchOf(api, [broken]);
      expect((await bench.run({ text: "question" })).answer).toBe("the whole answer");
      expect(provider.requests).toHaveLength(2);
      expect(await contents(bench)).toEqual(["question", "the whole answer"]);

      const always = await benchOf(api, [broken, broken, broken]);
      await expect(always.bench.run({ text: "question" })).rejects.toMatchObject({
        code: "model_failed",
        message: expect.stringContaining("ended its answer before it was whole"),
      });
      expect(await contents(always.bench)).toEqual(["question", HALF]);
      expect(await activity(always.bench)).toBe("interrupted");
    },
  );

  it("[ANSWER-32] an unknown reason is an answer, and is reported", async () => {
    const { bench } = await benchOf("chat", [chatAnswer({ text: "all of it" }, "ran_dry")]);
    expect((await bench.run({ text: "question" })).answer).toBe("all of it");
    expect(bench.events).toContainEqual(
      expect.objectContaining({
        type: "notice",
        sentence: expect.stringContaining('for the reason "ran_dry"'),
      }),
    );
  });

  it("[ANSWER-33] a summary that is not whole is not used", async () => {
    const cut = claudeAnswer({ text: "half a summ" }, { stop_reason: "max_tokens" });
    const full = claudeAnswer({ text: "" }, { stop_reason: "model_context_window_exceeded" });
    const { bench } = await benchOf("anthropic", [
      whole("anthropic", "first"),
      whole("anthropic", "second"),
      full,
      cut,
    ]);
    await bench.run({ text: "one" });
    await bench.run({ text: "two" });
    await expect(bench.run({ text: "three" })).rejects.toMatchObject({
      code: "model_context_full",
    });
    expect(await contents(bench)).not.toContain("half a summ");
  });
});
