import { describe, expect, it } from "vitest";

import { BINDING_HEADER } from "../../helpers/providers/claude/thinking-rules.ts";
import { costOf, PRICES } from "../../helpers/providers/prices.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import type { Changing } from "./cases.ts";
import { withThinking } from "./claude-cases.ts";
import { providerOfTest, send, type Sent, stream } from "./send.ts";

const KEYS = { "x-api-key": "test-key", "anthropic-version": "2023-06-01" };
const MODEL = "claude-opus-5-5";

/** Thinks and reads; answers with a text after the second result. */
function answers(index: number): readonly Step[] {
  return [
    reasoning("Let me read it."),
    ...(index < 2 ? [call("read", { path: "a.txt" })] : [text("It is 7.")]),
  ];
}

async function claude(options: object = {}, script = answers) {
  const provider = await providerOfTest("anthropic", script, options);
  const url = `${provider.url}/v1/messages`;
  const ask = (body: Changing, headers = {}): Promise<Sent> =>
    send(url, body, { ...KEYS, ...headers });
  const talk = async (body: Changing): Promise<Changing> => (await ask(body)).answer;
  return { provider, url, ask, talk };
}

describe("Claude's mock", () => {
  it("drops thinking after a changed prefix if the request wants that, and lists it", async () => {
    const { ask, talk, provider } = await claude();
    const body = await withThinking(MODEL, talk);
    body.system[0].text += " Today is Monday.";
    body.thinking = {
      type: "adaptive",
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    };
    const { status, answer } = await ask(body, { "anthropic-beta": BINDING_HEADER });
    expect(status).toBe(200);
    expect(answer.input_transformations).toEqual([
      {
        type: "thinking_dropped",
        path: "messages.1.content.0",
        reason: "prefix_binding_mismatch",
      },
      {
        type: "thinking_dropped",
        path: "messages.3.content.0",
        reason: "prefix_binding_mismatch",
      },
    ]);
    expect(provider.received.at(-1)?.dropped).toHaveLength(2);
  });

  it.each(["claude-sonnet-5", "claude-mythos-5-1"])("checks no prefix for %s", async (model) => {
    const { ask, talk } = await claude();
    const body = await withThinking(model, talk);
    body.system[0].text += " Today is Monday.";
    expect(await ask(body)).toMatchObject({ status: 200 });
  });

  it("accepts a conversation whose first thinking was left out, and cache marks that move", async () => {
    const { ask, talk, provider } = await claude();
    const body = await withThinking(MODEL, talk);
    body.messages[1].content.shift();
    body.messages.at(-1).content[0].cache_control = { type: "ephemeral" };
    expect(await ask(body)).toMatchObject({ status: 200 });
    expect(provider.refusals()).toEqual([]);
  });

  it("does not show a model the thinking of another one, and shows it again to the first", async () => {
    const { ask, talk, provider } = await claude();
    const body = await withThinking("claude-fable-5-1", talk);
    expect(await ask({ ...body, model: MODEL })).toMatchObject({ status: 200 });
    expect(provider.received.at(-1)?.dropped).toMatchObject([
      { reason: "model_binding_mismatch" },
      { reason: "model_binding_mismatch" },
    ]);
    expect(await ask(body)).toMatchObject({ status: 200 });
    expect(provider.received.at(-1)?.dropped).toEqual([]);
  });

  it("streams blocks, thinking with its text only if that is asked for, and usage at the end", async () => {
    const { url } = await claude();
    const body = { model: MODEL, max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
    const events = await stream(url, body, KEYS);
    expect(events.map(({ type, delta }) => delta?.type ?? type)).toEqual([
      "message_start",
      "content_block_start",
      "signature_delta",
      "content_block_stop",
      "content_block_start",
      "input_json_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "tool_use" },
      usage: { output_tokens_details: { thinking_tokens: 5 } },
    });
    const shown = { ...body, thinking: { type: "adaptive", display: "summarized" } };
    expect(await stream(url, shown, KEYS)).toContainEqual(
      expect.objectContaining({ delta: { type: "thinking_delta", thinking: "Let me read it." } }),
    );
  });
});

describe("the cache of Claude's mock", () => {
  const MARK = { cache_control: { type: "ephemeral" } };
  const HOUR = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const words = (length: number) => ({ type: "text", text: "w".repeat(length) });
  const body = (system: object, ...content: object[]): Changing => ({
    model: "claude-sonnet-5",
    max_tokens: 10,
    system: [system],
    messages: [{ role: "user", content }],
  });

  it("finds what an earlier request marked, for as long as it lives", async () => {
    const { talk, provider } = await claude();
    const marked = body({ ...words(7200), ...MARK }, words(360));
    const created = (await talk(marked)).usage;
    expect(created).toMatchObject({ cache_read_input_tokens: 0 });
    expect(created.cache_creation).toMatchObject({ ephemeral_1h_input_tokens: 0 });
    const written = created.cache_creation.ephemeral_5m_input_tokens;
    expect(written).toBeGreaterThan(2000);
    provider.advance(4 * 60_000);
    expect((await talk(marked)).usage).toMatchObject({ cache_read_input_tokens: written });
    provider.advance(4 * 60_000);
    expect((await talk(marked)).usage).toMatchObject({ cache_read_input_tokens: written });
    provider.advance(5 * 60_000);
    expect((await talk(marked)).usage).toMatchObject({ cache_read_input_tokens: 0 });
    const hour = body({ ...words(7200), ...HOUR }, words(360));
    expect((await talk(hour)).usage.cache_read_input_tokens).toBe(written);
    provider.advance(10 * 60_000);
    expect((await talk(hour)).usage.cache_creation).toMatchObject({
      ephemeral_1h_input_tokens: written,
    });
    provider.advance(50 * 60_000);
    expect((await talk(hour)).usage.cache_read_input_tokens).toBe(written);
  });

  it("keeps nothing that is too short, and finds nothing more than 20 blocks before a mark", async () => {
    const { talk } = await claude();
    const short = body({ ...words(3000), ...MARK }, words(360));
    await talk(short);
    expect((await talk(short)).usage.cache_read_input_tokens).toBe(0);
    const long = (blocks: number): Changing =>
      body(words(7200), ...Array.from({ length: blocks }, () => words(10)));
    const marked = (blocks: number): Changing => {
      const made = long(blocks);
      Object.assign(made.messages[0].content.at(-1), MARK);
      return made;
    };
    await talk(marked(1));
    expect((await talk(marked(21))).usage.cache_read_input_tokens).toBeGreaterThan(2000);
    expect((await talk(marked(42))).usage.cache_read_input_tokens).toBe(0);
  });

  it("makes a price with what was read and written", async () => {
    const { talk, provider } = await claude();
    const marked = body({ ...words(7200), ...MARK }, words(360));
    await talk(marked);
    await talk(marked);
    const price = PRICES["claude-sonnet-5"];
    expect(costOf(provider.received, price ?? expect.fail())).toEqual({
      micros: 6027,
      cachedShare: expect.closeTo(0.475, 2),
    });
  });
});
