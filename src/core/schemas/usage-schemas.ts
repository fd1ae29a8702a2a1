import { Type, type Static } from "typebox";

import { closed, nullable } from "./field-schemas.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const known = (description: string) => nullable(count(description));

/** Tokens that providers have counted, by kind; null for a kind that none has reported. */
export const UsageInfo = Type.Object(
  {
    calls: count("Requests of models."),
    unpriced_calls: count("Requests whose price is unknown: with any, a cost is the least amount."),
    input_tokens: known(
      "All that was read, what came from caches and was written to them included.",
    ),
    cache_read_tokens: known("Read from caches of providers."),
    cache_write_5m_tokens: known("Written to caches that keep it for 5 minutes."),
    cache_write_1h_tokens: known("Written to caches that keep it for an hour."),
    output_tokens: known("All that was written, reasoning included."),
    reasoning_tokens: known("Reasoning."),
  },
  { ...closed, $id: "UsageInfo" },
);
export type UsageInfo = Static<typeof UsageInfo>;

/** Usage of requests of models, and their cost. */
export const costFields = {
  usage: Type.Union([Type.Unsafe<UsageInfo>({ $ref: "UsageInfo#" }), Type.Null()]),
  cost_micros: nullable(
    Type.Integer({
      minimum: 0,
      description: "Sum of the known prices in micro-dollars; null if there are only unknown ones.",
    }),
  ),
} as const;
