import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { openBench } from "../../helpers/exchanger.ts";
import {
  type RawApi,
  chatAnswer,
  chatChunk,
  claudeAnswer,
  event,
  type RawAnswer,
  startRawProvider,
} from "../../helpers/raw-provider.ts";

async function benchOf(api: RawApi, answers: readonly RawAnswer[]) {
  const provider = await startRawProvider(
    api,
    (index) =>
      answers[index] ??
      (api === "anthropic"
        ? claudeAnswer({ text: "the whole answer" }, { stop_reason: "end_turn" })
        : chatAnswer({ text: "the whole answer" }, "stop")),
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const models = { ...modelConfig(provider.env), retryDelayMs: 1 };
  const bench = await openBench({ env: () => provider.env }, provider.env, { models });
  for (const name of ["a.txt", "b.txt"]) {
    writeFileSync(join(bench.repo, name), `text of ${name}`);
  }
  return { bench, provider };
}

const HALF = chatAnswer({ text: "half an ans" });
const CLAUDES_HALF = claudeAnswer({ text: "half an ans" });
const claudeError = (type: string) =>
  event({ type: "error", error: { type, message: "no" } }, "error");

describe("an error in the middle of a stream", () => {
  it.each([
    ["chat", "OpenRouter's code", HALF + event({ error: { code: 502, message: "gone" } })],
    ["chat", "a code as text", HALF + event({ error: { code: "503", message: "gone" } })],
    ["chat", "server_error", HALF + event({ error: { type: "server_error", message: "no" } })],
    ["chat", "a rate limit", HALF + event({ error: { code: "rate_limit_exceeded" } })],
    ["chat", "an error event", HALF + event({ error: { code: 529, message: "no" } }, "error")],
    ["anthropic", "overloaded_error", CLAUDES_HALF + claudeError("overloaded_error")],
    ["anthropic", "api_error", CLAUDES_HALF + claudeError("api_error")],
    ["anthropic", "timeout_error", CLAUDES_HALF + claudeError("timeout_error")],
    ["anthropic", "rate_limit_error", CLAUDES_HALF + claudeError("rate_limit_error")],
  ] as const)("[RETRY-16] %s: %s is transient", async (api, _what, broken) => {
    const { bench, provider } = await benchOf(api, [broken]);
    expect((await bench.run({ text: "question" })).answer).toBe("the whole answer");
    expect(provider.requests).toHaveLength(2);
    const rows = await expectNoDrift(bench.database, bench.session.id);
    expect(rows.map(({ content }) => content)).toEqual(["question", "the whole answer"]);
  });

  it.each([
    ["chat", HALF + event({ error: { code: 400, message: "no" } })],
    ["chat", HALF + event({ error: { type: "invalid_request_error", message: "no" } })],
    ["anthropic", CLAUDES_HALF + claudeError("invalid_request_error")],
  ] as const)("[RETRY-16] %s: another one is not", async (api, broken) => {
    const { bench, provider } = await benchOf(api, [broken]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({ code: "model_failed" });
    expect(provider.requests).toHaveLength(1);
    const rows = await expectNoDrift(bench.database, bench.session.id);
    expect(rows.map(({ content }) => content)).toEqual(["question", "half an ans"]);
  });
});

describe("calls whose pieces have no index", () => {
  const piece = (call: object) => chatChunk({ tool_calls: [call] });
  const named = (id: string | undefined, args: string, more: object = {}) =>
    piece({
      ...more,
      ...(id === undefined ? {} : { id }),
      type: "function",
      function: { name: "read_file", arguments: args },
    });
  const more = (args: string, fields: object = {}) =>
    piece({ ...fields, function: { arguments: args } });
  const end = chatChunk({}, "tool_calls") + "data: [DONE]\n\n";
  const [a, b] = ['{"path":"a.txt"}', '{"path":"b.txt"}'];

  it.each([
    [
      "in pieces, with ids",
      [named("c1", '{"path":'), more('"a.txt"}'), named("c2", '{"pa'), more('th":"b.txt"}')],
    ],
    ["whole, with ids", [named("c1", a), named("c2", b)]],
    ["whole, without ids", [named(undefined, a), named(undefined, b)]],
    [
      "with the id in each piece",
      [named("c1", '{"path":'), named("c1", '"a.txt"}'), named("c2", b)],
    ],
    [
      "with an index of null",
      [
        named("c1", '{"path":', { index: null }),
        more('"a.txt"}', { index: null }),
        named("c2", b, { index: null }),
      ],
    ],
    [
      "with the name in each piece",
      [named(undefined, '{"path":'), named(undefined, '"a.txt"}'), named(undefined, b)],
    ],
    ["both with the index 0", [named("c1", a, { index: 0 }), named("c2", b, { index: 0 })]],
  ])("[ANSWER-34] are kept: %s", async (_what, pieces) => {
    const begin = chatChunk({ role: "assistant", content: "" });
    const { bench, provider } = await benchOf("chat", [begin + pieces.join("") + end]);
    expect((await bench.run({ text: "read" })).answer).toBe("the whole answer");
    expect(provider.requests).toHaveLength(2);
    const results = bench.events.flatMap((each) =>
      each.type === "tool_result" ? [each.content] : [],
    );
    // they run side by side
    expect(results.sort()).toEqual([
      expect.stringContaining("text of a.txt"),
      expect.stringContaining("text of b.txt"),
    ]);
  });
});

it("[ANSWER-35] reasoning is sent back beside the calls that it led to, and not beside text", async () => {
  const calls = [{ name: "read_file", args: '{"path":"a.txt"}' }];
  const { bench, provider } = await benchOf("chat", [
    chatAnswer({ reasoning: "I must read.", text: "I read.", calls }, "tool_calls"),
    chatAnswer({ reasoning: "I have read.", calls }, "tool_calls"),
    chatAnswer({ reasoning: "I know.", text: "It says text." }, "stop"),
  ]);
  await bench.run({ text: "read" });
  await bench.run({ text: "thanks" });
  const messages = provider.requests.at(-1)?.["messages"] as Record<string, unknown>[];
  const answers = messages.filter(({ role }) => role === "assistant");
  expect(answers).toEqual([
    {
      role: "assistant",
      content: "I read.",
      reasoning_content: "I must read.",
      tool_calls: [expect.objectContaining({ id: "call_0" })],
    },
    {
      role: "assistant",
      content: "",
      reasoning_content: "I have read.",
      tool_calls: [expect.anything()],
    },
    { role: "assistant", content: "It says text." },
  ]);
});

it.each([
  [
    "chat",
    {
      message: "Your organization must be verified to use the model",
      type: "invalid_request_error",
      code: "unsupported_value",
    },
    "The OpenAI service refuses this model to the account",
  ],
  [
    "chat",
    { message: "no", type: "invalid_request_error", code: "invalid_api_key" },
    "The OpenAI service refused the key",
  ],
  [
    "anthropic",
    { message: "no", type: "permission_error" },
    "Anthropic refuses this model to the account",
  ],
  ["anthropic", { message: "no", type: "authentication_error" }, "Anthropic refused the key"],
] as const)("[CLI-37] %s: 403 %j is %s", async (api, error, says) => {
  const { bench } = await benchOf(api, [{ status: 403, body: { type: "error", error } }]);
  await expect(bench.run({ text: "question" })).rejects.toMatchObject({
    code: "model_unauthorized",
    message: expect.stringContaining(says),
  });
});

it.each([
  ["a code in the stream", HALF + event({ error: { code: "content_policy_violation" } })],
  ["a status", { status: 400, body: { error: { code: "content_filter", message: "no" } } }],
] as const)(
  "[ANSWER-28] what a filter refuses with %s is model_refused",
  async (_what, refusal) => {
    const { bench } = await benchOf("chat", [refusal]);
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({ code: "model_refused" });
  },
);

it.each([
  ["NUL in its reasoning", { reasoning: "h\0m", text: "I read." }],
  ["a lone surrogate in its reasoning", { reasoning: "h\ud800m", text: "I read." }],
  ["NUL in its text", { reasoning: "hm", text: "I \0read." }],
])("[ANSWER-41] an answer with %s is sent back without its reasoning", async (_what, content) => {
  const calls = [{ name: "read_file", args: '{"path":"a.txt"}' }];
  const { bench, provider } = await benchOf("anthropic", [
    claudeAnswer({ reasoning: "sound", text: "I look.", calls }, { stop_reason: "tool_use" }),
    claudeAnswer(content, { stop_reason: "end_turn" }),
  ]);
  await bench.run({ text: "read" });
  await bench.run({ text: "thanks" });
  const sent = (provider.requests.at(-1)?.["messages"] ?? []) as { role: string }[];
  const answers = sent.filter(({ role }) => role === "assistant");
  expect(JSON.stringify(answers[0])).toContain('"thinking":"sound"');
  expect(answers[1]).toMatchObject({ content: [{ type: "text", text: "I read." }] });
  expect(JSON.stringify(answers[1])).not.toContain("thinking");
});
