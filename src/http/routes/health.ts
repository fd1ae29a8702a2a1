import { Type } from "typebox";

import { NoQuery } from "../../core/schemas.ts";
import type { Api } from "./api.ts";
import type { Readiness } from "../metrics/readiness.ts";
import { json, problems } from "../responses.ts";

const Health = Type.Object({ status: Type.Literal("ok") }, { additionalProperties: false });

/** `/livez`: the process answers. `/readyz`: it also stores and reads. Both without a token. */
export function healthRoutes(app: Api, readiness: Readiness): void {
  const config = { public: true } as const;
  const live = json(Health, { description: "The process answers." });
  app.get(
    "/livez",
    {
      config,
      schema: {
        operationId: "live",
        summary: "Is it alive?",
        description: "For liveness probes. It does not touch the database, and needs no token.",
        querystring: NoQuery,
        response: { 200: live, ...problems() },
      },
    },
    async () => ({ status: "ok" as const }),
  );
  const ready = json(Health, { description: "It can store and read." });
  app.get(
    "/readyz",
    {
      config: { ...config, logsItself: true },
      schema: {
        operationId: "ready",
        summary: "Can it serve?",
        description:
          "For load balancers: 503 while the database cannot be written and read, and once the service is about to stop. It needs no token.",
        querystring: NoQuery,
        response: { 200: ready, ...problems() },
      },
    },
    async () => {
      await readiness.check();
      return { status: "ok" as const };
    },
  );
}
