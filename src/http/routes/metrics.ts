import { NoQuery } from "../../core/schemas/query-schemas.ts";
import type { Api } from "./api.ts";
import { problems, REQUEST_ID } from "../responses.ts";
import { type Metrics, METRICS_TYPE } from "../metrics/metrics.ts";

export function metricsRoute(app: Api, metrics: Metrics): void {
  app.route({
    method: "GET",
    url: "/metrics",
    config: { needs: "metrics" },
    schema: {
      operationId: "metrics",
      summary: "What this node has counted since it started, for Prometheus",
      description:
        "Prometheus' text format 0.0.4. `--metrics-token-file` gives a token that opens this path alone.",
      querystring: NoQuery,
      response: {
        200: {
          description: "The metrics in Prometheus' text form.",
          headers: { "X-Request-Id": REQUEST_ID },
          content: { "text/plain": { schema: { type: "string" } } },
        },
        ...problems(),
      },
    } as const,
    handler: async (_request, reply) => {
      const text = await metrics.text();
      return reply.type(METRICS_TYPE).send(text);
    },
  });
}
