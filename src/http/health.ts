import { Type } from "typebox";

import { RepriseError } from "../core/errors.ts";
import { listSessions } from "../store/sessions/list.ts";
import type { Store } from "../store/store.ts";
import type { Api } from "./app.ts";
import { json, problems } from "./responses.ts";

const Health = Type.Object({ status: Type.Literal("ok") }, { additionalProperties: false });

/** `/livez`: the process answers. `/readyz`: it also reads its store. Both without a token. */
export function healthRoutes(app: Api, store: Store): void {
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
  const ready = json(Health, { description: "The store can be read." });
  app.get(
    "/readyz",
    {
      config,
      schema: {
        operationId: "ready",
        summary: "Can it serve?",
        response: { 200: ready, ...problems() },
      },
    },
    async () => {
      await store.read(listSessions, { limit: 1 }).catch(refuseWithoutDetails);
      return { status: "ok" as const };
    },
  );
}

function refuseWithoutDetails(cause: unknown): never {
  throw new RepriseError(
    "database_unavailable",
    "The service cannot read its store at the moment; try again.",
    { cause },
  );
}
