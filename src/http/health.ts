import { Type } from "typebox";

import type { Api } from "./api.ts";
import type { Readiness } from "./readiness.ts";
import { json, problems } from "./responses.ts";

const Health = Type.Object({ status: Type.Literal("ok") }, { additionalProperties: false });

/** `/livez`: the process answers. `/readyz`: it also stores and reads. Both without a token. */
export function healthRoutes(app: Api, readiness: Readiness): void {
  const config = { public: true };
  const live = json(Health, { description: "The process answers." });
  app.get(
    "/livez",
    {
      config,
      schema: {
        operationId: "live",
        summary: "Is it alive?",
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
        response: { 200: ready, ...problems() },
      },
    },
    async () => {
      await readiness.check();
      return { status: "ok" as const };
    },
  );
}
