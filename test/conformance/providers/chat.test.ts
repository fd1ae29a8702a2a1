import { expect, it } from "vitest";

import { CHAT_SERVERS, type ChatQuirks } from "../../helpers/providers/openai/chat-quirks.ts";
import { call, reasoning, text } from "../../helpers/providers/steps.ts";
import type { Changing } from "./cases.ts";
import { providerOfTest, stream } from "./send.ts";

const STEPS = [reasoning("Hm."), text("I read it."), call("read", { path: "a.txt" })];

async function chunksOf(quirks: ChatQuirks, steps = STEPS): Promise<Changing[]> {
  const provider = await providerOfTest("openai", () => steps, { quirks });
  const body = {
    model: "local",
    messages: [{ role: "user", content: "hi" }],
    stream_options: { include_usage: true },
  };
  return stream(`${provider.url}/v1/chat/completions`, body, {});
}

const deltasIn = (chunks: readonly Changing[]): Changing[] =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }: Changing) => delta));

it("streams OpenAI's form: a role, reasoning, text, calls with an index, the end, usage", async () => {
  const chunks = await chunksOf({});
  const deltas = deltasIn(chunks);
  expect(deltas[0]).toEqual({ role: "assistant", content: "" });
  expect(deltas).toContainEqual({ reasoning_content: "Hm." });
  expect(deltas).toContainEqual({
    tool_calls: [{ index: 0, function: { arguments: '{"path":"a.txt"}' } }],
  });
  expect(chunks.at(-2).choices[0].finish_reason).toBe("tool_calls");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
});

it("streams the differences of other servers", async () => {
  const gemini = deltasIn(await chunksOf(CHAT_SERVERS.gemini));
  expect(JSON.stringify(gemini)).not.toMatch(/"role"|"index"/);
  const qwen = await chunksOf(CHAT_SERVERS.qwen);
  expect(qwen.every(({ usage }) => usage === undefined)).toBe(true);
});

it("reports an error in the middle of a stream as OpenRouter does", async () => {
  const chunks = await chunksOf(CHAT_SERVERS.openrouter, [
    text("Half"),
    { kind: "error", cause: "failed" },
  ]);
  expect(chunks.at(-1)).toMatchObject({
    error: { code: 502, message: "Provider returned error" },
    choices: [{ finish_reason: "error" }],
  });
});
