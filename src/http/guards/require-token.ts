import type { FastifyRequest, RouteOptions } from "fastify";

import { TOKEN_HOLDER } from "../../core/consents.ts";
import { RepriseError } from "../../core/errors.ts";
import type { Caller } from "../../core/origins.ts";

/** Methods whose routes only read, unless they say otherwise. */
const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * True if a route does what only a caller with the token may do. Whatever changes something does, unless the route
 * says that it is open: a new route is not open by mistake.
 */
export function isClosed({ method, config }: RouteAccess): boolean {
  return config?.public !== true && !(config?.open ?? [method].flat().every(isReading));
}

type RouteAccess = Pick<RouteOptions, "method" | "config">;

function isReading(method: string): boolean {
  return READING.has(method);
}

/** Error codes: `token_required`. */
export function requireToken({ authenticated }: Pick<FastifyRequest, "authenticated">): void {
  if (!authenticated) {
    throw new RepriseError(
      "token_required",
      "This call needs the token of the service, sent as `Authorization: Bearer <token>`. `reprise serve` names the token's file when it starts, or says why it has none.",
    );
  }
}

/** Who sent a request. */
export function callerOf({ authenticated }: Pick<FastifyRequest, "authenticated">): Caller {
  return { origin: "http", authenticated, ...(authenticated ? { who: TOKEN_HOLDER } : {}) };
}
