import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { modelSettings } from "../../../src/rules/models/settings.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type RawApi,
  callItem,
  chatAnswer,
  claudeAnswer,
  event,
  type Item,
  messageItem,
  ollamaAnswer,
  type RawAnswer,
  reasoningItem,
  responseEvents,
  responsesAnswer,
  startRawProvider,
} from "../../helpers/raw-provider.ts";
import { openAiAs } from "../../helpers/openai-as.ts";

const COMPLETED = { type: "response.completed", response: { status: "completed" } };
const whole = (...items: Item[]) => responseEvents(items, COMPLETED);

function responsesConfig(env: Readonly<Record<string, string>>) {
  return { ...modelConfig(env, openAiAs("responses")), retryDelayMs: 1 };
}

/** A session that OpenAI answers so, one answer for each request, and then with a whole one. */
async function benchOf(
  answers: readonly RawAnswer[],
  idle?: ReturnType<typeof modelConfig>["idle"],
) {
  const provider = await startRawProvider(
    "responses",
    (index) => answers[index] ?? whole(messageItem("the whole answer")),
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const config = responsesConfig(provider.env);
  const models = { ...config, idle: idle ?? config.idle };
  const bench = await openBench({ env: () => provider.env }, provider.env, { models });
  writeFileSync(join(bench.repo, "a.txt"), "text of a.txt");
  const inputs = () => provider.requests.map(({ input }) => input as Item[]);
  return { bench, provider, inputs };
}

async function answers({ store, session }: Bench): Promise<AIMessage[]> {
  const saver = createCheckpointSaver({ store });
  const config = { configurable: { thread_id: threadId(session.id, 0) } };
  return messagesOf(await saver.getTuple(config)).filter((each) => AIMessage.isInstance(each));
}

const READ = callItem("read_file", '{"path":"a.txt"}');

describe("the Responses API", () => {
  it("[ANSWER-36] stores nothing at OpenAI and asks for encrypted reasoning", async () => {
    const { bench, provider } = await benchOf([]);
    await bench.run({ text: "question" });
    expect(provider.requests[0]).toMatchObject({
      model: "gpt-test",
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
    });
    expect(provider.requests[0]).not.toHaveProperty("previous_response_id");
    expect(provider.requests[0]?.["tools"]).toContainEqual(
      expect.objectContaining({ type: "function", name: "read_file", strict: false }),
    );
  });

  it.each(["gpt-4o", "gpt-4.1-mini", "gpt-5-chat-latest", "ft:gpt-4o:mine"])(
    "[ANSWER-36] does not ask %s for reasoning, which refuses to be asked",
    async (model) => {
      const { provider } = await benchOf([]);
      const config = responsesConfig(provider.env);
      await (await openModel({ name: `openai:${model}`, config })).invoke("hello");
      expect(provider.requests[0]).not.toHaveProperty("include");
    },
  );

  it("[ANSWER-37] sends every item of an answer back unchanged, two of reasoning too, also after a restart", async () => {
    const items = [
      reasoningItem("rs_1", "Zmlyc3Q+/w=="),
      messageItem("I read — “now” 🧮\u2028."),
      reasoningItem("rs_2", "c2Vjb25k"),
      READ,
    ];
    const { bench, inputs } = await benchOf([whole(...items)]);
    await bench.run({ text: "read" });
    const [, second = []] = inputs();
    expect(second.slice(-5)).toEqual([
      ...items,
      expect.objectContaining({ type: "function_call_output", call_id: "call_1" }),
    ]);
    const again = createExchanger(bench.parts).exchange(
      { session_id: bench.session.id, text: "and now?" },
      { listener: () => {}, signal: new AbortController().signal },
    );
    expect((await again).state).toBe("done");
    const [, , third = []] = inputs();
    expect(third.slice(0, second.length)).toEqual(second);
    await expectNoDrift(bench.database, bench.session.id);
  });

  it("[ANSWER-38] keeps of a response only what is needed", async () => {
    const { bench } = await benchOf([whole(reasoningItem("rs_1", "ZQ=="), messageItem("all"))]);
    await bench.run({ text: "question" });
    const [answer] = await answers(bench);
    expect(Object.keys(answer?.response_metadata ?? {}).sort()).toEqual([
      "created_at",
      "id",
      "incomplete_details",
      "model",
      "model_provider",
      "output",
      "reprise_maker",
      "service_tier",
      "status",
    ]);
    expect(answer?.response_metadata).toMatchObject({ id: "resp_1", model: "gpt-test" });
    expect(answer?.additional_kwargs).toEqual({});
    expect(JSON.stringify(answer)).not.toContain("repeated");
    expect(answer?.usage_metadata).toMatchObject({ input_tokens: 3, output_tokens: 4 });
  });

  it.each([
    [
      "a call has another id",
      [whole(reasoningItem("rs_1", "ZQ=="), READ), whole(reasoningItem("rs_2", "ZQ=="), READ)],
      "rs_2",
    ],
    [
      "arguments are not whole",
      [whole(reasoningItem("rs_1", "ZQ=="), callItem("read_file", '{"path":"a'))],
      "rs_1",
    ],
  ] as const)("[ANSWER-37] leaves reasoning out if %s", async (_what, given, left) => {
    const { bench, inputs } = await benchOf(given);
    expect((await bench.run({ text: "read" })).state).toBe("done");
    const last = inputs().at(-1) ?? [];
    expect(JSON.stringify(last)).not.toContain(left);
    const calls = last.filter(({ type }) => type === "function_call");
    const results = last.filter(({ type }) => type === "function_call_output");
    expect(results.map(({ call_id }) => call_id)).toEqual(calls.map(({ call_id }) => call_id));
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(given.length);
  });

  it("[ANSWER-37] leaves reasoning out that has no encrypted text, or that nothing follows", async () => {
    const { bench, inputs } = await benchOf([
      whole(reasoningItem("rs_1", null), messageItem("one")),
      whole(messageItem("two"), reasoningItem("rs_2", "ZQ==")),
      whole(reasoningItem("rs_3", "ZQ==")),
    ]);
    for (const text of ["1", "2", "3", "4"]) {
      await bench.run({ text });
    }
    const last = JSON.stringify(inputs().at(-1));
    expect(last).toContain("two");
    expect(last).not.toContain("rs_");
  });

  it.each([
    [
      "response.failed",
      {
        type: "response.failed",
        response: { status: "failed", error: { code: "server_error", message: "no" } },
      },
    ],
    [
      "a rate limit",
      {
        type: "response.failed",
        response: { status: "failed", error: { code: "rate_limit_exceeded", message: "no" } },
      },
    ],
  ])("[RETRY-16] asks again after %s", async (_what, end) => {
    const { bench, provider } = await benchOf([responseEvents([messageItem("half")], end)]);
    expect((await bench.run({ text: "question" })).answer).toBe("the whole answer");
    expect(provider.requests).toHaveLength(2);
  });

  it.each([undefined, "error"])(
    "[RETRY-16] asks again after an error in the stream, in an event named %s",
    async (name) => {
      const error = event(
        { type: "error", code: "rate_limit_exceeded", message: "slow down", param: null },
        name,
      );
      const { bench, provider } = await benchOf([
        responseEvents([messageItem("half")], null) + error,
      ]);
      expect((await bench.run({ text: "question" })).answer).toBe("the whole answer");
      expect(provider.requests).toHaveLength(2);
    },
  );

  it("[ANSWER-28] fails with model_refused for what a policy forbids, and for a refusal in the place of text", async () => {
    const error = { code: "bio_policy", message: "no" };
    const refusal = { ...messageItem(""), content: [{ type: "refusal", refusal: "I can't." }] };
    const said = event({
      type: "response.refusal.done",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      refusal: "I can't.",
    });
    const { bench } = await benchOf([
      responseEvents([messageItem("half")], {
        type: "response.failed",
        response: { status: "failed", error },
      }),
      said + whole(refusal),
    ]);
    for (let times = 0; times < 2; times += 1) {
      const run = bench.run({ text: times === 0 ? "question" : null });
      await expect(run).rejects.toMatchObject({ code: "model_refused" });
    }
  });

  it("[EXCHANGE-17] counts reasoning without a text as a sign of life", async () => {
    const wait = Promise.withResolvers<void>();
    const begin = responseEvents([reasoningItem("rs_1", "ZQ==")], null);
    setTimeout(() => wait.resolve(), 900);
    const idle = { beforeTextMs: 600_000, afterTextMs: 300 };
    const half = responseEvents([messageItem("half")], null);
    const { bench } = await benchOf(
      [[half + begin, wait.promise.then(() => whole(messageItem("half")))]],
      idle,
    );
    expect((await bench.run({ text: "question" })).state).toBe("done");
  });
});

it("[ANSWER-39] OpenAI's own address is asked with Responses, another one with Chat Completions", () => {
  const apiOf = (env: Record<string, string>, api?: "chat" | "responses") => {
    const entries = api === undefined ? {} : openAiAs(api);
    const config = modelConfig({ OPENAI_API_KEY: "k", ...env }, entries);
    return modelSettings({ name: "openai:gpt-5.1", config }).api;
  };
  expect(apiOf({})).toBe("responses");
  expect(apiOf({ OPENAI_BASE_URL: "https://api.openai.com/v1/" })).toBe("responses");
  expect(apiOf({ OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" })).toBe("chat");
  expect(apiOf({ OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" }, "responses")).toBe("responses");
  expect(apiOf({}, "chat")).toBe("chat");
});

describe("answers of another provider", () => {
  const calls = [{ id: "call_1", name: "look", args: { at: 1 } }];
  const claudes = new AIMessage({
    content: [
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "redacted_thinking", data: "ZGF0YQ==" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "call_1", name: "look", input: { at: 1 } },
    ],
    tool_calls: calls,
    response_metadata: { model_provider: "anthropic" },
  });
  const openAis = new AIMessage({
    content: [
      { type: "reasoning", reasoning: "hm" },
      { type: "text", text: "I look.", index: 0 },
    ],
    tool_calls: calls,
    response_metadata: {
      model_provider: "openai",
      output: [reasoningItem("rs_1", "ZQ=="), messageItem("I look."), callItem("look", '{"at":1}')],
    },
  });
  const WHOLE: Record<RawApi, string> = {
    anthropic: claudeAnswer({ text: "yes" }, { stop_reason: "end_turn" }),
    chat: chatAnswer({ text: "yes" }, "stop"),
    responses: responsesAnswer({ text: "yes" }, "completed"),
    ollama: ollamaAnswer({ text: "yes" }, "stop"),
  };

  it.each([
    ["anthropic", openAis],
    ["chat", openAis],
    ["chat", claudes],
    ["responses", claudes],
    ["ollama", openAis],
    ["ollama", claudes],
  ] as const)("[ANSWER-40] are sent to %s as text and calls alone", async (api, answer) => {
    await using provider = await startRawProvider(api, () => WHOLE[api]);
    const config = api === "responses" ? responsesConfig(provider.env) : modelConfig(provider.env);
    const model = await openModel({ name: config.model ?? "", config });
    const result = new ToolMessage({ content: "seen", tool_call_id: "call_1", name: "look" });
    expect((await model.invoke([new HumanMessage("look"), answer, result])).text).toBe("yes");
    const sent = JSON.stringify(provider.requests[0]);
    expect(sent).toContain("I look.");
    expect(sent).toContain('"call_1"');
    expect(sent).not.toMatch(/thinking|reasoning"|hm|rs_1|ZQ==|ZGF0YQ/);
  });
});
