import { expect, it, onTestFinished } from "vitest";

import { openModel } from "../../../src/agent/models/open.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";
import { chatAnswer, ollamaAnswer, startRawProvider } from "../../helpers/raw-provider.ts";
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

it.each([
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
    const { store, session, run } = await openBench({ env: () => env }, env);
    expect((await run({ text: "question" })).answer).toBe("hello there");
    expect(await callsOf(store, session.id)).toMatchObject([{ input: null, output: null }]);
    const [exchange] = await store.read(listExchanges, { reference: session.id, limit: 1 });
    // estimated, as without any report
    expect(exchange).toMatchObject({ input_tokens: 2, output_tokens: 3 });
  },
);
