import type { TokenCounts } from "../../core/cost/model-calls.ts";

/** Prices of a million tokens in micro-dollars. */
export interface PriceTier {
  /** The tier counts for requests of more input tokens than this. */
  readonly above: number;
  readonly input: number;
  /** Reasoning costs the same. */
  readonly output: number;
  /** Null if unknown. */
  readonly cache_read: number | null;
  /** Of a write that is kept for 5 minutes, and of one for an hour; null if unknown. */
  readonly cache_write_5m: number | null;
  readonly cache_write_1h: number | null;
}

/** Tokens of one request, as LangChain counts them. */
export interface TokenUsage {
  /** All that the model read: what came from the cache and what was written to it are part of it. */
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  /** All that the model wrote: its reasoning is part of it. */
  readonly output: number;
}

const PER_MILLION = 1_000_000;

/**
 * Returns what a request costs in micro-dollars, rounded to a whole number. Null if a price that it needs is unknown:
 * a price of 0 is one that is known.
 */
export function priceOf(
  { price }: { readonly price: readonly PriceTier[] | null },
  usage: TokenUsage,
): number | null {
  const tier = price?.findLast(({ above }) => above === 0 || usage.input > above);
  if (tier === undefined) {
    return null;
  }
  const { cache_read, cache_write_5m, cache_write_1h } = usage;
  const plain = Math.max(0, usage.input - cache_read - cache_write_5m - cache_write_1h);
  const costs = [
    cost(plain, tier.input),
    cost(cache_read, tier.cache_read),
    cost(cache_write_5m, tier.cache_write_5m),
    cost(cache_write_1h, tier.cache_write_1h),
    cost(usage.output, tier.output),
  ];
  let sum = 0;
  for (const each of costs) {
    if (each === null) {
      return null;
    }
    sum += each;
  }
  return Math.round(sum / PER_MILLION);
}

/**
 * Returns what a request costs by what its provider has counted, as `priceOf`. Null if it did not count what the model
 * read or wrote; without a count of the cache, the model used none. What is free needs no count.
 */
export function priceOfCounts(
  facts: { readonly price: readonly PriceTier[] | null },
  counts: TokenCounts,
): number | null {
  const { input, output } = counts;
  if (facts.price?.every(isFree) === true) {
    return 0;
  }
  if (input === null || output === null) {
    return null;
  }
  const { cache_read, cache_write_5m, cache_write_1h } = counts;
  return priceOf(facts, {
    input,
    output,
    cache_read: cache_read ?? 0,
    cache_write_5m: cache_write_5m ?? 0,
    cache_write_1h: cache_write_1h ?? 0,
  });
}

function isFree({ above: _above, ...prices }: PriceTier): boolean {
  return Object.values(prices).every((price) => price === 0);
}

function cost(tokens: number, price: number | null): number | null {
  return tokens === 0 ? 0 : price === null ? null : tokens * price;
}
