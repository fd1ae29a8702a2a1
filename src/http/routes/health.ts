import { Type } from "typebox";

import { NoQuery } from "../../core/schemas/query-schemas.ts";
import type { Api } from "./api.ts";
import type { Readiness } from "../metrics/readiness.ts";
import { json, problems } from "../responses.ts";

const Health = Type.Object({ status: Type.Literal("ok") }, { additionalProperties: false });

/** `/livez`: the process answers. `/readyz`: it also stores and reads. Both without a token. */
export function healthRoutes(app: Api, readiness: Readiness): void {
  const schema = (description: string) => ({
    querystring: NoQuery,
    response: { 200: json(Health, { description }), ...problems() },
  });
  app.route({
    method: "GET",
    url: "/livez",
    config: { needs: "nothing" },
    schema: {
      operationId: "live",
      summary: "Is it alive?",
      description: "For liveness probes. It does not touch the database, and needs no token.",
      ...schema("The process answers."),
    },
    handler: async () => OK,
  });
  app.route({
    method: "GET",
    url: "/readyz",
    config: { needs: "nothing", logsItself: true },
    schema: {
      operationId: "ready",
      summary: "Can it serve?",
      description:
        "For load balancers: 503 while the database cannot be written and read, and once the service is about to stop. It needs no token.",
      ...schema("It can store and read."),
    },
    handler: async () => {
      await readiness.check();
      return OK;
    },
  });
}

const OK = { status: "ok" } as const;
