import { expect, it, onTestFinished } from "vitest";

import { openModel } from "../../../src/agent/models/open.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";
import {
  chatAnswer,
  claudeAnswer,
  ollamaAnswer,
  responsesAnswer,
  startRawProvider,
} from "../../helpers/raw-provider.ts";
import { callsOf } from "../../helpers/sessions/model-calls.ts";

it.each([
  ["mistral", false],
  ["groq", true],
])("[MODEL-13] %s is asked for a count of tokens if it takes that: %s", async (name, isAsked) => {
  const provider = await startProvider("openai", () => [text("Done.")]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const baseUrl = `${provider.url}/v1`;
  const entry = { api: null, baseUrl, key: null, headers: {} };
  const config = modelConfig({}, { [name]: entry });
  const model = await openModel({ name: `${name}:test`, config });
  for await (const _ of await model.stream("hi")) {
    // read to the end
  }
  expect("stream_options" in (provider.requests[0] ?? {})).toBe(isAsked);
});

const chunk = { id: "c1", object: "chat.completion.chunk", model: "gpt-test", choices: [] };
const chat = (usage: unknown): string =>
  chatAnswer({ text: "hello there" }, "stop").replace(
    "data: [DONE]",
    `data: ${JSON.stringify({ ...chunk, usage })}\n\ndata: [DONE]`,
  );

/** Claude's answer with the usage of its begin and of its end. */
const claude = (begin: unknown, end: unknown): string =>
  claudeAnswer({ text: "hello there" }, { stop_reason: "end_turn" })
    .replace('"usage":{"input_tokens":3,"output_tokens":1}', `"usage":${JSON.stringify(begin)}`)
    .replace('"usage":{"output_tokens":4}', `"usage":${JSON.stringify(end)}`);

const responses = (usage: unknown): string =>
  responsesAnswer({ text: "hello there" }, "completed").replace(
    /"usage":\{.*?\}\}/,
    `"usage":${JSON.stringify(usage)}`,
  );

it.each([
  ["anthropic", "none", claude(null, null)],
  ["anthropic", "a text", claude("lol", "lol")],
  ["responses", "none", responses(null)],
  ["responses", "a text", responses("lol")],
  ["responses", "empty", responses({})],
  ["chat", "a text", chat("lol")],
  ["chat", "texts", chat({ prompt_tokens: "x", completion_tokens: null })],
  [
    "ollama",
    "texts",
    ollamaAnswer({ text: "hello there" }, "stop").replace(
      '"prompt_eval_count":3,"eval_count":4',
      '"prompt_eval_count":"x","eval_count":[]',
    ),
  ],
] as const)(
  "[COST-5] usage that is not a number counts as not reported: %s, %s",
  async (api, _, answer) => {
    const provider = await startRawProvider(api, () => answer);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const { env } = provider;
    const models = modelConfig(env, api === "responses" ? openAiAs("responses") : {});
    const { store, session, run } = await openBench({ env: () => env }, env, { models });
    expect((await run({ text: "question" })).answer).toBe("hello there");
    expect(await callsOf(store, session.id)).toMatchObject([{ input: null, output: null }]);
    const [exchange] = await store.read(listExchanges, { reference: session.id, limit: 1 });
    // estimated, as without any report
    expect(exchange).toMatchObject({ input_tokens: 2, output_tokens: 3 });
  },
);

it.each([
  ["read, at the end", claude({}, { input_tokens: 50, output_tokens: 4 }), 50],
  [
    "more read, at the end",
    claude({ input_tokens: 3 }, { input_tokens: 50, output_tokens: 4 }),
    50,
  ],
  [
    "read from the cache, at the end",
    claude({ input_tokens: 3 }, { input_tokens: 3, cache_read_input_tokens: 40, output_tokens: 4 }),
    43,
  ],
  ["read, at the begin alone", claude({ input_tokens: 3 }, { output_tokens: 4 }), 3],
  ["read, nowhere", claude({ output_tokens: 1 }, { output_tokens: 4 }), null],
] as const)(
  "[COST-2] [COST-5] a server of Anthropic's API counts what was %s",
  async (_, answer, input) => {
    const provider = await startRawProvider("anthropic", () => answer);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const { env } = provider;
    const { store, session, run } = await openBench({ env: () => env }, env);
    await run({ text: "question" });
    expect(await callsOf(store, session.id)).toMatchObject([{ input, output: 4 }]);
    const [exchange] = await store.read(listExchanges, { reference: session.id, limit: 1 });
    expect(exchange).toMatchObject({
      input_tokens: input ?? 2,
      output_tokens: input === null ? 3 : 4,
    });
  },
);
