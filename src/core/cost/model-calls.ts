/**
 * How the answer to a request of a model ended.
 *
 * - `whole`: it is all there.
 * - `cut`, `paused`, `full`, `refused`, `unknown`: as its provider reported.
 * - `failed`: the provider or the connection failed after the answer had begun.
 * - `stopped`: somebody stopped it.
 */
export const CALL_ENDS = [
  "whole",
  "cut",
  "paused",
  "full",
  "refused",
  "unknown",
  "failed",
  "stopped",
] as const;
export type CallEnd = (typeof CALL_ENDS)[number];

/** Kinds of tokens that a provider counts. */
export const TOKEN_KINDS = [
  "input",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "output",
  "reasoning",
] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/**
 * Tokens as a provider has counted them; null for what it did not report. `input` is all that the model read: what came
 * from the cache and what was written to it are part of it. `output` is all that it wrote, its reasoning included.
 */
export type TokenCounts = Readonly<Record<TokenKind, number | null>>;

export const NO_COUNTS: TokenCounts = {
  input: null,
  cache_read: null,
  cache_write_5m: null,
  cache_write_1h: null,
  output: null,
  reasoning: null,
};

/** Tokens of one request that are believed: no model reads or writes as many, and a million requests can be summed. */
export const MAX_COUNTED_TOKENS = 1_000_000_000;

/** One request of a model that its provider began to answer. */
export interface CallRecord extends TokenCounts {
  /** As `provider:model`. */
  readonly model: string;
  /** Its price in micro-dollars when it ended; null if that is unknown. */
  readonly price_micros: number | null;
  /** Source of the price: date of the table of models, `config`, or `free`; null without a price. */
  readonly price_table: string | null;
  readonly ended: CallEnd;
}

/** Sums of requests: of each kind of tokens, those that were reported; null if none was. */
export interface Usage extends TokenCounts {
  readonly calls: number;
  /** Requests without a known price. */
  readonly unpriced: number;
  /** Sum of the known prices in micro-dollars; null if there are only unknown ones. */
  readonly cost_micros: number | null;
}

/** Usage without any request: it has cost nothing. */
export const NO_USAGE: Usage = { ...NO_COUNTS, calls: 0, unpriced: 0, cost_micros: 0 };

/** Sums requests. */
export function usageOf(calls: readonly (TokenCounts & Pick<CallRecord, "price_micros">)[]): Usage {
  const sum = (values: readonly (number | null)[]): number | null => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  const counts = TOKEN_KINDS.map((kind) => [kind, sum(calls.map((call) => call[kind]))] as const);
  const prices = calls.map(({ price_micros }) => price_micros);
  return {
    ...(Object.fromEntries(counts) as Record<TokenKind, number | null>),
    calls: calls.length,
    unpriced: prices.filter((price) => price === null).length,
    cost_micros: calls.length === 0 ? 0 : sum(prices),
  };
}

/** Adds up the sums of several sessions. */
export function totalUsage(sums: readonly Usage[]): Usage {
  // without a request nothing has a price
  const used = sums.filter(({ calls }) => calls > 0);
  const total = usageOf(used.map((each) => ({ ...each, price_micros: each.cost_micros })));
  const add = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  return {
    ...total,
    calls: add(used.map(({ calls }) => calls)),
    unpriced: add(used.map(({ unpriced }) => unpriced)),
  };
}

/** Share of what models read that came from the cache, from 0 to 1; null if it is unknown. */
export function cachedShare({ input, cache_read }: Usage): number | null {
  return input === null || cache_read === null || input === 0 ? null : cache_read / input;
}
