import type { FastifyInstance } from "fastify";

import type { Logins } from "./logins.ts";
import { createGate, type GateOptions } from "./access.ts";
import { parseOrigins } from "./cors.ts";
import { checkNeed } from "./needs.ts";
import { GUEST } from "../../core/principal.ts";

/** Sets the headers of every answer and checks access. A preflight carries no token. */
export async function guard(
  app: FastifyInstance,
  options: Omit<GateOptions, "allowedOrigins"> & {
    readonly allowOrigins?: readonly string[] | undefined;
  },
  logins: Logins,
): Promise<void> {
  const allowedOrigins = parseOrigins(options.allowOrigins ?? []);
  const { checkOrigin, holderOf, checkEntry } = createGate({ ...options, allowedOrigins });
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    checkOrigin(request);
  });
  if (allowedOrigins.length > 0) {
    const { allowOrigins } = await import("./cors.ts");
    await allowOrigins(app, allowedOrigins);
  }
  app.decorateRequest("principal");
  app.decorateRequest("login", null);
  app.addHook("onRequest", async (request, reply) => {
    const holder = holderOf(request);
    const login = holder === null ? await logins.loginOf(request) : null;
    request.principal = login?.principal ?? holder ?? GUEST;
    request.login = login;
    checkEntry(request);
    checkNeed(request);
    if (login !== null) {
      logins.watch(reply.raw, login.id);
    }
  });
}
