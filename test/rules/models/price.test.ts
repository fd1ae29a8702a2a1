import { expect, it } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { modelFacts } from "../../../src/rules/models/facts.ts";
import { type PriceTier, priceOf, type TokenUsage } from "../../../src/rules/models/price.ts";

const NONE: TokenUsage = {
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
};

const TIER: PriceTier = {
  above: 0,
  input: 2_000_000,
  output: 10_000_000,
  cache_read: 100_000,
  cache_write_5m: 2_500_000,
  cache_write_1h: 4_000_000,
};

const TIERS = { price: [TIER, { ...TIER, above: 100_000, input: 10_000_000 }] };

it("counts what came from the cache and what was written to it apart from the rest of the input", () => {
  const usage: TokenUsage = {
    input: 1000,
    cache_read: 300,
    cache_write_5m: 200,
    cache_write_1h: 100,
    output: 50,
  };
  // 400 × $2 + 300 × $0.10 + 200 × $2.50 + 100 × $4 + 50 × $10, for a million each
  expect(priceOf({ price: [TIER] }, usage)).toBe(800 + 30 + 500 + 400 + 500);
});

it("takes the prices of the request's size", () => {
  expect(priceOf(TIERS, { ...NONE, input: 100_000 })).toBe(200_000);
  expect(priceOf(TIERS, { ...NONE, input: 100_001 })).toBe(1_000_010);
  const cached = { ...NONE, input: 100_001, cache_read: 100_001 };
  expect(priceOf(TIERS, cached)).toBe(10_000);
});

it("is null if a price that is needed is unknown, and 0 only for a price of 0", () => {
  const unknown = { price: [{ ...TIER, cache_read: null, cache_write_1h: null }] };
  expect(priceOf({ price: null }, { ...NONE, input: 1 })).toBeNull();
  expect(priceOf({ price: null }, NONE)).toBeNull();
  expect(priceOf(unknown, { ...NONE, input: 10, cache_read: 1 })).toBeNull();
  expect(priceOf(unknown, { ...NONE, input: 10, cache_write_1h: 1 })).toBeNull();
  expect(priceOf(unknown, { ...NONE, input: 10 })).toBe(20);
  expect(priceOf(modelFacts("demo", modelConfig({})), { ...NONE, input: 9, output: 9 })).toBe(0);
});

it("rounds to whole micro-dollars, and never goes below 0 for more cached tokens than tokens", () => {
  expect(priceOf({ price: [TIER] }, { ...NONE, input: 1, cache_read: 1 })).toBe(0);
  expect(priceOf({ price: [TIER] }, { ...NONE, input: 5, cache_read: 5 })).toBe(1);
  expect(priceOf({ price: [TIER] }, { ...NONE, input: 1, cache_read: 100 })).toBe(10);
});
