import { expect, it } from "vitest";

import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import type { Changing } from "./cases.ts";
import { withReasoning } from "./responses-cases.ts";
import { providerOfTest, send, stream } from "./send.ts";

const MODEL = "gpt-6.1-sol";
const HEADERS = { authorization: "Bearer test-key" };

async function responses(script: (index: number) => readonly Step[]) {
  const provider = await providerOfTest("openai", script);
  const url = `${provider.url}/v1/responses`;
  const talk = async (body: Changing): Promise<Changing> => (await send(url, body, HEADERS)).answer;
  return { provider, url, talk };
}

const reading = (index: number): readonly Step[] =>
  index === 0
    ? [reasoning("Hm."), call("read", { path: "a.txt" })]
    : [reasoning("Now I know."), text("It is 7.")];

it.each([
  ["the instructions", (body: Changing) => (body.instructions += " Be brief.")],
  ["the tools", (body: Changing) => body.tools.pop()],
  ["the effort", (body: Changing) => (body.reasoning = { effort: "low" })],
  ["a message", (body: Changing) => (body.input[0].content = "Read b.txt.")],
])("drops reasoning after a change of %s without an error, and reports it", async (_, change) => {
  const { talk, provider } = await responses(reading);
  const body = await withReasoning(MODEL, talk);
  const [, { id }] = body.input;
  change(body);
  expect(await talk(body)).toMatchObject({
    status: "completed",
    input_transformations: [
      { id, type: "reasoning", action: "removed", reason: "prefix_mismatch" },
    ],
  });
  expect(provider.received.at(-1)?.dropped).toEqual([{ path: id, reason: "prefix_mismatch" }]);
});

it.each([
  ["a request that only adds", MODEL, (body: Changing) => body],
  [
    "a string in place of parts",
    MODEL,
    (body: Changing) =>
      (body.input[0].content = [{ type: "input_text", text: body.input[0].content }]),
  ],
  ["an older model", "gpt-5.1", (body: Changing) => (body.instructions += " Be brief.")],
])("keeps the reasoning of %s", async (_, model, change) => {
  const { talk } = await responses(reading);
  const body = await withReasoning(model, talk);
  change(body);
  expect((await talk(body)).input_transformations).toBeUndefined();
});

it("continues a stored response by its id", async () => {
  const { talk } = await responses(reading);
  const input = [{ role: "user", content: "Which number is it?" }];
  const tools = [{ type: "function", name: "read" }];
  const first = await talk({ model: MODEL, input, tools });
  const [, { call_id }] = first.output;
  const result = { type: "function_call_output", call_id, output: "7" };
  const second = { model: MODEL, input: [result], tools, previous_response_id: first.id };
  expect(await talk(second)).toMatchObject({ status: "completed" });
});

it("encrypts reasoning only for a request that asks for it", async () => {
  const { talk } = await responses(reading);
  const { output } = await talk({ model: MODEL, input: "hi", store: false });
  expect(output[0]).toMatchObject({ type: "reasoning", encrypted_content: null });
});

it("finds the beginning of an earlier prompt in its cache without a mark", async () => {
  const { talk, provider } = await responses(() => [text("Yes.")]);
  const body = { model: MODEL, instructions: "w".repeat(7200), input: "hi" };
  const cached = async (): Promise<number> =>
    (await talk(body)).usage.input_tokens_details.cached_tokens;
  expect(await cached()).toBe(0);
  expect(await cached()).toBe(1920);
  provider.advance(10 * 60_000);
  expect(await cached()).toBe(0);
});

it("streams items with their parts, and ends with the response", async () => {
  const { url } = await responses(() => [reasoning("Hm."), text("Yes."), call("read", {})]);
  const events = await stream(
    url,
    { model: MODEL, input: "hi", reasoning: { summary: "auto" } },
    HEADERS,
  );
  expect(events.map(({ type }) => type.replace("response.", ""))).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done",
    "completed",
  ]);
  const { response } = events.at(-1);
  expect(response.output.map(({ type }: Changing) => type)).toEqual([
    "reasoning",
    "message",
    "function_call",
  ]);
});
