import type { UsageInfo } from "../schemas/usage-schemas.ts";
import type { Usage } from "./model-calls.ts";

/** The fields of the API for what requests have used. */
export function costOf(used: Usage): { usage: UsageInfo; cost_micros: number | null } {
  const { calls, unpriced, cost_micros } = used;
  return {
    usage: {
      calls,
      unpriced_calls: unpriced,
      input_tokens: used.input,
      cache_read_tokens: used.cache_read,
      cache_write_5m_tokens: used.cache_write_5m,
      cache_write_1h_tokens: used.cache_write_1h,
      output_tokens: used.output,
      reasoning_tokens: used.reasoning,
    },
    cost_micros,
  };
}
