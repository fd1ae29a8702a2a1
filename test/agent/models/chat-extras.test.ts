import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it, onTestFinished } from "vitest";

import { ChatExtras, sentBack } from "../../../src/agent/models/chat-extras.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import type { Quirks } from "../../../src/rules/models/providers.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { CHAT_SERVERS } from "../../helpers/providers/openai/chat-quirks.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";

const READ = call("read_file", { path: "a.txt" });

/** The session of a model of this provider, and what the provider got. */
async function benchOf(
  name: "openrouter" | "gemini",
  model: string,
  answers: readonly (readonly Step[])[],
) {
  const provider = await startProvider("openai", (index) => answers[index] ?? [text("done")], {
    quirks: CHAT_SERVERS[name],
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const key = `${name.toUpperCase()}_API_KEY`;
  const env = { [key]: "test-key", REPRISE_MODEL: `${name}:${model}` };
  const baseUrl = provider.env["OPENAI_BASE_URL"] ?? null;
  const entries = { [name]: { api: null, baseUrl, key: null, headers: {} } };
  const models = { ...modelConfig(env, entries), retryDelayMs: 1 };
  const bench = await openBench({ env: () => env }, env, { models });
  writeFileSync(join(bench.repo, "a.txt"), "text of a.txt");
  const sent = () =>
    ((provider.requests.at(-1)?.["messages"] ?? []) as Record<string, unknown>[]).filter(
      ({ role }) => role === "assistant",
    );
  return { bench, provider, sent };
}

describe("[ANSWER-42] OpenRouter's blocks of reasoning", () => {
  it("are sent back as they came, beside calls and text", async () => {
    const { bench, provider, sent } = await benchOf("openrouter", "google/gemini-3-pro", [
      [reasoning("I must "), reasoning("read."), READ],
      [reasoning("I know."), text("It says text.")],
    ]);
    await bench.run({ text: "read" });
    await bench.run({ text: "thanks" });
    expect(provider.refusals()).toEqual([]);
    const [first, second] = sent();
    expect(first).toMatchObject({
      reasoning_details: [
        { type: "reasoning.text", text: "I must read.", signature: expect.any(String) },
        { type: "reasoning.encrypted", data: expect.any(String) },
      ],
    });
    expect(second).toMatchObject({
      content: "It says text.",
      reasoning_details: [{ text: "I know." }, {}],
    });
    const thought = bench.events.flatMap((each) => (each.type === "reasoning" ? each.text : []));
    expect(thought.join("")).toBe("I must read.I know.");
  });
});

describe("[ANSWER-44] Gemini's signatures of calls", () => {
  it("are sent back with their calls, also those that got another id", async () => {
    const { bench, provider, sent } = await benchOf("gemini", "gemini-3-pro", [
      [
        { ...READ, id: "call" },
        { ...READ, id: "other" },
      ] as readonly Step[],
      [{ ...READ, id: "call" }] as readonly Step[],
    ]);
    const result = await bench.run({ text: "read" });
    expect(result.answer).toBe("done");
    expect(provider.refusals()).toEqual([]);
    const extras = sent().map(({ tool_calls = [] }) =>
      (tool_calls as { extra_content?: object }[]).map((one) => one.extra_content !== undefined),
    );
    expect(extras.slice(0, 2)).toEqual([[true, false], [true]]);
  });

  it("are replaced beside calls that have none, for models that refuse these", () => {
    const calls = [1, 2].map((n) => ({ id: `c${n}`, name: "read_file", args: {} }));
    const answer = new AIMessage({ content: "", tool_calls: calls });
    const back = (model: string, quirks: Quirks) => sentBack(answer, quirks, model);
    expect(back("models/gemini-3-pro", { signs_calls: true })?.calls).toEqual([
      { google: { thought_signature: "skip_thought_signature_validator" } },
    ]);
    expect(back("gemini-2.5-flash", { signs_calls: true })).toBeNull();
    expect(back("gemini-3-pro", {})).toBeNull();
    expect(sentBack(new AIMessage("text"), { signs_calls: true }, "gemini-3-pro")).toBeNull();
  });
});

describe("pieces of a stream", () => {
  it("are joined by type and index, and fields that do not grow are kept once", () => {
    const extras = new ChatExtras();
    const piece = (more: object) =>
      extras.add({ reasoning_details: [{ format: "f", index: 0, ...more }] });
    piece({ type: "reasoning.summary", summary: "a" });
    piece({ type: "reasoning.summary", summary: "b" });
    piece({ type: "reasoning.text", text: "c", signature: null });
    piece({ type: "reasoning.text", signature: "s" });
    piece({ type: "reasoning.encrypted", data: "d", id: "1" });
    piece({ type: "reasoning.encrypted", data: "e", id: "2" });
    extras.add({ reasoning_details: [null, "x"], tool_calls: "none" });
    expect(extras.kept()).toEqual({
      reasoning_details: [
        { type: "reasoning.summary", summary: "ab", format: "f", index: 0 },
        { type: "reasoning.text", text: "c", signature: "s", format: "f", index: 0 },
        { type: "reasoning.encrypted", data: "d", id: "1", format: "f", index: 0 },
        { type: "reasoning.encrypted", data: "e", id: "2", format: "f", index: 0 },
      ],
    });
  });

  it("belong to their call by index, by id, or to the last one", () => {
    const extras = new ChatExtras();
    extras.add({ tool_calls: [{ index: 0, id: "a", extra_content: 1 }] });
    extras.add({ tool_calls: [{ index: 1, id: "b" }] });
    extras.add({ tool_calls: [{ index: 1, extra_content: 2 }] });
    expect(extras.kept()).toEqual({ reprise_call_extras: [1, 2] });
    const unnumbered = new ChatExtras();
    unnumbered.add({ tool_calls: [{ id: "a" }, { id: "b" }] });
    unnumbered.add({ tool_calls: [{ extra_content: 3 }] });
    expect(unnumbered.kept()).toEqual({ reprise_call_extras: [null, 3] });
    expect(new ChatExtras().kept()).toEqual({});
  });
});
