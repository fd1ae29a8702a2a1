import type { FastifyRequest, RouteOptions } from "fastify";

import { RepriseError } from "../../core/errors.ts";
import type { AccessRole } from "../../core/principal.ts";
import { sessionNotFound } from "../../store/records/sessions/read.ts";

/**
 * The roles that may call a route, by what the route needs. `nothing`: also callers that are refused elsewhere.
 * `link`: shows the session of a link. `read`: shows what every caller may see. `metrics`: as `read`, and takes the
 * token for metrics too. `read_private`: shows what files and commands hold. `submit`: stores what reaches the agent
 * only after somebody confirmed it, unless the owner sends it. `own`: changes something, or shows who may get in.
 */
const MAY = {
  nothing: ["guest", "visitor", "reader", "owner"],
  link: ["guest", "visitor", "reader", "owner"],
  read: ["guest", "reader", "owner"],
  metrics: ["guest", "reader", "owner"],
  read_private: ["reader", "owner"],
  submit: ["guest", "owner"],
  own: ["owner"],
} as const satisfies Record<string, readonly AccessRole[]>;

/** Role that a route needs of its caller. */
export type Need = keyof typeof MAY;

type RouteAccess = Pick<RouteOptions, "method" | "config">;

const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Returns what a route needs. A route that does not say it needs `own`, unless its method only reads. */
export function needOf({ method, config }: RouteAccess): Need {
  const reads = [method].flat().every((each) => READING.has(each));
  return config?.needs ?? (reads ? "read" : "own");
}

/** True if a role may call a route. */
export function mayCall(role: AccessRole, route: RouteAccess): boolean {
  const roles: readonly AccessRole[] = MAY[needOf(route)];
  return roles.includes(role);
}

/** Error codes: `token_required`. */
export function requireToken({ principal }: Pick<FastifyRequest, "principal">): void {
  if (principal.role !== "owner") {
    throw tokenRequired(SENTENCES[principal.role]);
  }
}

/**
 * Refuses what the role of a request's sender may not do.
 *
 * Error codes: `token_required`; `session_not_found` for a visitor who asks for another session.
 */
export function checkNeed(request: FastifyRequest): void {
  const { principal, login, routeOptions, params } = request;
  if (request.is404) {
    return;
  }
  if (!mayCall(principal.role, routeOptions)) {
    requireToken(request);
  }
  // no prefix of an id: it could be another session's
  const isOther = login?.session !== sessionIdOf(params);
  if (principal.role === "visitor" && needOf(routeOptions) === "link" && isOther) {
    throw sessionNotFound();
  }
}

const SENTENCES: Readonly<Record<Exclude<AccessRole, "owner">, string>> = {
  guest:
    "This call needs the token of the service, sent as `Authorization: Bearer <token>`. `reprise serve` names the token's file when it starts, or says why it has none.",
  reader:
    "The read token only reads. This call needs the token of the service, sent as `Authorization: Bearer <token>`.",
  visitor:
    "A link shows the messages of one session and nothing else. Log in with the token of the service for more.",
};

function sessionIdOf(params: unknown): unknown {
  return typeof params === "object" && params !== null && "id" in params ? params.id : null;
}

function tokenRequired(sentence: string): RepriseError {
  return new RepriseError("token_required", sentence);
}
