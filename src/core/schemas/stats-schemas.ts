import { type Static, Type } from "typebox";

import { STATS_BY } from "../sessions.ts";
import { closed, nullable, oneOf } from "./field-schemas.ts";

const tokens = (description: string) => nullable(Type.Integer({ minimum: 0, description }));

export const StatsQuery = Type.Object(
  {
    by: oneOf(STATS_BY),
    since: Type.Optional(
      Type.String({
        format: "date-time",
        description: "only requests that ended at this time or later",
      }),
    ),
  },
  closed,
);
export type StatsQuery = Static<typeof StatsQuery>;

/** Sums of a group of requests. */
export const StatInfo = Type.Object(
  {
    key: nullable(
      Type.String({
        description:
          "The day in UTC (`2026-01-31`), the id of the session, its folder, or the model; null for sessions without a folder.",
      }),
    ),
    title: nullable(Type.String({ description: "Name or title of the session, by session." })),
    calls: Type.Integer({ minimum: 1, description: "Requests." }),
    input: tokens("Tokens that models read, the cached ones included; null if none was reported."),
    cached: tokens("Of these, tokens that came from a cache."),
    output: tokens("Tokens that models wrote."),
    cost_micros: nullable(
      Type.Integer({
        minimum: 0,
        description: "Sum of the known prices in millionths of a dollar; null if none is known.",
      }),
    ),
    unknown_calls: Type.Integer({ minimum: 0, description: "Requests without a known price." }),
  },
  { ...closed, $id: "StatInfo" },
);
export type StatInfo = Static<typeof StatInfo>;
