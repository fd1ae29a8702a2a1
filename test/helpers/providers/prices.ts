import type { Received } from "./server.ts";

/** Dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly source: string;
}

/** A cache write costs 1.25 of the input's price, or twice for an hour: prompt-caching, 2026-11-23. */
function claudePrice(input: number, output: number, cacheRead: number, source: string): Price {
  return { input, output, cacheRead, cacheWrite5m: input * 1.25, cacheWrite1h: input * 2, source };
}

const OVERVIEW = "platform.claude.com/docs/en/models/overview, 2026-11-23";

export const PRICES: Readonly<Record<string, Price>> = {
  "claude-sonnet-5": claudePrice(2, 10, 0.2, OVERVIEW),
  "claude-sonnet-5-5": claudePrice(
    2,
    10,
    0.1,
    "platform.claude.com/docs/en/models/sonnet-5-5/migration-guide, 2026-11-26",
  ),
  "claude-opus-5": claudePrice(5, 25, 0.5, OVERVIEW),
  "claude-opus-5-5": claudePrice(4, 20, 0.4, OVERVIEW),
  "claude-fable-5-1": claudePrice(10, 50, 1, OVERVIEW),
};

export interface Cost {
  /** Millionths of a dollar. */
  readonly micros: number;
  /** Of the input's tokens, those that were read from the cache. */
  readonly cachedShare: number;
}

/** The cost of the requests that were answered. */
export function costOf(received: readonly Received[], price: Price): Cost {
  let [micros, all, read] = [0, 0, 0];
  for (const { usage } of received) {
    if (usage === null) {
      continue;
    }
    micros +=
      usage.input * price.input +
      usage.cacheRead * price.cacheRead +
      usage.cacheWrite5m * price.cacheWrite5m +
      usage.cacheWrite1h * price.cacheWrite1h +
      usage.output * price.output;
    all += usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
    read += usage.cacheRead;
  }
  return { micros: Math.round(micros), cachedShare: all === 0 ? 0 : read / all };
}
