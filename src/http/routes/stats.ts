import { Type } from "typebox";

import { MAX_STATS } from "../../core/limits.ts";
import { named } from "../../core/schemas/schemas.ts";
import { StatInfo, StatsQuery } from "../../core/schemas/stats-schemas.ts";
import { readStats } from "../../store/records/model-calls/stats.ts";
import type { Store } from "../../store/store.ts";
import { json, problems } from "../responses.ts";
import type { Api } from "./api.ts";

/** `GET /api/stats`: what the models of all sessions have used and cost. */
export function statsRoute(app: Api, store: Store): void {
  app.route({
    method: "GET",
    url: "/api/stats",
    schema: {
      operationId: "getStats",
      summary: "Sums what the requests of models have used and cost",
      description: `Of all sessions, the archived ones too, and their sub-agents; those of deleted sessions are gone. At most ${MAX_STATS} groups: the latest days, or those that cost most.`,
      querystring: StatsQuery,
      response: {
        200: json(Type.Array(named(StatInfo)), { description: "The groups." }),
        ...problems(),
      },
    },
    handler: async ({ query: { by, since } }) => [
      ...(await store.read(readStats, {
        by,
        since: since === undefined ? undefined : new Date(since),
      })),
    ],
  });
}
