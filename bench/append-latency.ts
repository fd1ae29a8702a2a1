import { appending } from "./append.ts";
import { besideBare } from "./beside-bare.ts";
import type { LoadResult } from "./load.ts";
import { type Bench, type Measurement, median, percentile } from "./measurement.ts";

/** One client that sends a message, waits for the answer and sends the next one. */
export const bench: Bench = {
  about: "milliseconds of one client's append, held against the bare server",
  run: async ({ scale }) => {
    const results = await besideBare(appending, { connections: 1, scale });
    return [0.5, 0.99].map((part): Measurement => ({
      what: `p${part * 100} of one client`,
      unit: "ms",
      ours: latency(results.ours, part),
      floor: latency(results.bare, part),
      reach: { at_most: 1.5 },
    }));
  },
};

/** The median of what the rounds give: one round that the machine held up counts as one. */
function latency(results: readonly LoadResult[], part: number): number {
  return median(results.map(({ latencies }) => percentile(latencies, part)));
}
