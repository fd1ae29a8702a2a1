import type { FastifyInstance } from "fastify";

import type { Logins } from "../page/logins.ts";
import { createGate, type GateOptions } from "./access.ts";
import { parseOrigins } from "./cors.ts";
import { checkRole } from "./require-token.ts";

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
  app.decorateRequest("access");
  app.decorateRequest("authenticated", false);
  app.addHook("onRequest", async (request, reply) => {
    const access = holderOf(request) ?? (await logins.accessOf(request));
    request.access = access;
    request.authenticated = access.role === "owner";
    checkEntry(request);
    checkRole(request);
    if (access.login !== null) {
      logins.watch(reply.raw, access.login);
    }
  });
}
