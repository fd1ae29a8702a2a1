import type { FastifyRequest, RouteOptions } from "fastify";

import { TOKEN_HOLDER } from "../../core/consents.ts";
import { RepriseError } from "../../core/errors.ts";
import type { Caller } from "../../core/origins.ts";
import { sessionNotFound } from "../../store/sessions/read.ts";

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
    throw tokenRequired(
      "This call needs the token of the service, sent as `Authorization: Bearer <token>`. `reprise serve` names the token's file when it starts, or says why it has none.",
    );
  }
}

/**
 * Refuses what the role of a request's sender may not do.
 *
 * Error codes: `token_required`; `session_not_found` for a visitor who asks for another session.
 */
export function checkRole(request: FastifyRequest): void {
  const { access, routeOptions, params } = request;
  if (request.is404 || access.role === "owner" || routeOptions.config.public === true) {
    return;
  }
  switch (access.role) {
    case "guest":
      if (isClosed(routeOptions)) {
        requireToken(request);
      }
      return;
    case "reader":
      if (isForOwners(routeOptions)) {
        throw tokenRequired(
          "The read token only reads. This call needs the token of the service, sent as `Authorization: Bearer <token>`.",
        );
      }
      return;
    case "visitor":
      if (routeOptions.config.shared !== true) {
        throw tokenRequired(
          "A link shows the messages of one session and nothing else. Log in with the token of the service for more.",
        );
      }
      // no prefix of an id: it could be another session's
      if (access.session === null || sessionIdOf(params) !== access.session) {
        throw sessionNotFound();
      }
  }
}

function isForOwners({ method, config }: RouteAccess): boolean {
  return config?.owner === true || (config?.reads !== true && ![method].flat().every(isReading));
}

function sessionIdOf(params: unknown): unknown {
  return typeof params === "object" && params !== null && "id" in params ? params.id : null;
}

function tokenRequired(sentence: string): RepriseError {
  return new RepriseError("token_required", sentence);
}

/** Who sent a request. */
export function callerOf({ authenticated }: Pick<FastifyRequest, "authenticated">): Caller {
  return { origin: "http", authenticated, ...(authenticated ? { who: TOKEN_HOLDER } : {}) };
}
