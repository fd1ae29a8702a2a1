import { readFileSync } from "node:fs";

import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, it } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { type ModelOverride, modelFacts } from "../../../src/rules/models/facts.ts";
import { entryOf, modelTable } from "../../../src/rules/models/table.ts";

const CONFIG = modelConfig({});

function withOverride(name: string, override: ModelOverride) {
  return modelFacts(name, { ...CONFIG, overrides: { [name]: override } });
}

describe("the facts about a model", () => {
  it("[MODEL-1] are those of the table", () => {
    expect(modelFacts("anthropic:claude-sonnet-5-5", CONFIG)).toEqual({
      context: 1_000_000,
      output: 128_000,
      images: true,
      reasoning: true,
      efforts: ["low", "medium", "high", "xhigh", "max"],
      price: [
        {
          above: 0,
          input: 2_000_000,
          output: 10_000_000,
          cache_read: 100_000,
          cache_write_5m: 2_500_000,
          cache_write_1h: 4_000_000,
        },
      ],
      priceFrom: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      ends: null,
      assumed: false,
    });
    expect(modelFacts("openai:gpt-6.1-sol", CONFIG).price?.map(({ above }) => above)).toEqual([
      0, 272_000,
    ]);
    expect(modelFacts("openai:gpt-5", CONFIG).ends).toBe("2026-12-11");
    expect(modelFacts("openai:gpt-5-pro", CONFIG).price?.[0]?.cache_read).toBeNull();
  });

  it.each([
    ["openai:gpt-4o-mini-2031-07-18", "openai:gpt-4o-mini"],
    ["anthropic:claude-opus-4-6-20310718", "anthropic:claude-opus-4-6"],
    ["anthropic:claude-opus-4-6-latest", "anthropic:claude-opus-4-6"],
  ])("[MODEL-1] are those of the model of which %s is a version", (name, known) => {
    expect(modelFacts(name, CONFIG)).toEqual(modelFacts(known, CONFIG));
  });

  it("[MODEL-1] have neither the price nor the end of the model that the name continues otherwise", () => {
    const { price, ends, ...facts } = modelFacts("openai:gpt-5-mini-special", CONFIG);
    expect({ price, ends }).toEqual({ price: null, ends: null });
    expect(facts).toMatchObject({ context: 400_000, images: true, assumed: false });
    // the longest name: `gpt-5-mini`, not `gpt-5`
    expect(modelFacts("openai:gpt-5.3-codex-spark-x", CONFIG).context).toBe(128_000);
  });

  it.each(["openai:gpt-5.9", "openai:some-local-thing", "anthropic:claude", "openai:__proto__"])(
    "[MODEL-2] are assumed for %s, and are then 128,000 tokens without a price",
    (name) => {
      expect(modelFacts(name, CONFIG)).toEqual({
        context: 128_000,
        output: null,
        images: null,
        reasoning: null,
        efforts: [],
        price: null,
        priceFrom: null,
        ends: null,
        assumed: true,
      });
    },
  );

  it("[MODEL-3] are what the config says, field by field", () => {
    const name = "openai:mine";
    expect(withOverride(name, { context: 5000, images: true })).toMatchObject({
      context: 5000,
      images: true,
      output: null,
      price: null,
      assumed: false,
    });
    expect(withOverride(name, { output: 7 })).toMatchObject({ output: 7, assumed: true });
    expect(withOverride(name, { price: { input: 1, output: 0.0028 } }).price).toEqual([
      {
        above: 0,
        input: 1_000_000,
        output: 2800,
        cache_read: null,
        cache_write_5m: null,
        cache_write_1h: null,
      },
    ]);
    expect(withOverride(name, { price: { input: 1 } }).price).toBeNull();
    const sol = withOverride("openai:gpt-6.1-sol", { context: 1_050_000, price: { output: 1 } });
    expect(sol.price?.map(({ above, input, output }) => [above, input, output])).toEqual([
      [0, 2_000_000, 1_000_000],
      [272_000, 4_000_000, 1_000_000],
    ]);
    expect(withOverride("openai:gpt-6.1-sol", { reasoning: false }).efforts).toEqual([]);
    expect(withOverride("ollama:llama3", { context: 32_000 }).context).toBe(32_000);
  });

  it("[MODEL-3] have the context of REPRISE_CONTEXT_TOKENS for every model", () => {
    const config = modelConfig({ REPRISE_CONTEXT_TOKENS: "4000" });
    for (const name of ["openai:gpt-5.1", "openai:unknown", "demo", "ollama:x"]) {
      expect(modelFacts(name, config)).toMatchObject({ context: 4000, assumed: false });
    }
  });

  it("are free and complete for the demo, and refuse an invalid name", () => {
    expect(modelFacts("demo", CONFIG)).toMatchObject({ context: 1_000_000, assumed: false });
    expect(modelFacts("ollama:x", CONFIG)).toMatchObject({ context: 16_384, assumed: false });
    expect(() => modelFacts("nothing", CONFIG)).toThrow(/provider:model/);
  });

  it.each(["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-5", "claude-sonnet-5"])(
    "never claim a larger context for %s than its client does",
    (model) => {
      const profile = new ChatAnthropic({ model, apiKey: "k" }).profile;
      const { context } = modelFacts(`anthropic:${model}`, CONFIG);
      expect(context).toBeGreaterThan(100_000);
      expect(context).toBeLessThanOrEqual(profile.maxInputTokens ?? 0);
    },
  );

  it.each(
    "gpt-5.5 gpt-5.4 gpt-5.3-codex-spark gpt-5.1 gpt-5 gpt-5-mini gpt-4o-mini gpt-4 o1 o3-mini".split(
      " ",
    ),
  )("never claim a larger context for %s than its client does", (model) => {
    const profile = new ChatOpenAI({ model, apiKey: "k" }).profile;
    const { context } = modelFacts(`openai:${model}`, CONFIG);
    expect(context).toBeGreaterThan(8000);
    expect(context).toBeLessThanOrEqual(profile.maxInputTokens ?? 0);
  });
});

describe("the files of the table", () => {
  const rows = Object.values(modelTable().models).flatMap((byName) => Object.entries(byName));

  it("name their source, its licence and a date", () => {
    const read = (path: string): unknown =>
      JSON.parse(readFileSync(new URL(`../../../models/${path}`, import.meta.url), "utf8"));
    expect(read("table.json")).toMatchObject({
      source: expect.stringMatching(/pi-ai \d+\.\d+\.\d+/),
      licence: expect.stringContaining("MIT"),
      date: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    });
    expect(read("retirements.json")).toMatchObject({
      sources: { anthropic: expect.any(String), openai: expect.any(String) },
    });
  });

  it("have whole, positive numbers and tiers in ascending order", () => {
    expect(rows.length).toBeGreaterThan(200);
    for (const [name, row] of rows) {
      const { context, output, price } = entryOf(row);
      expect(Number.isSafeInteger(context) && context >= 1000, name).toBe(true);
      expect(Number.isSafeInteger(output) && output > 0, name).toBe(true);
      const sizes = (price ?? []).map(({ above }) => above);
      expect(sizes, name).toEqual(sizes.toSorted((a, b) => a - b));
      for (const value of (price ?? []).flatMap((tier) => Object.values(tier))) {
        expect(value === null || (Number.isSafeInteger(value) && value >= 0), name).toBe(true);
      }
    }
  });

  it("have dates for the ends of models", () => {
    for (const [name, day] of Object.entries(modelTable().ends)) {
      expect(new Date(day).toISOString().slice(0, 10), name).toBe(day);
    }
  });
});
