import type { FastifyRequest } from "fastify";
import type { Login } from "../../core/access.ts";
import { RepriseError } from "../../core/errors.ts";
import { type AllowedHosts, isExtraHost, isOwnHost, type LocalEnd } from "./hosts.ts";
import { type Need, needOf } from "./needs.ts";
import { parseRequestTarget } from "./request-target.ts";
import { secretCheck } from "./secret-check.ts";
import { GUEST, type Principal, tokenHolder } from "../../core/principal.ts";

declare module "fastify" {
  /** The options of a route. */
  interface FastifyContextConfig {
    /** By default `own`, or `read` if its method only reads. */
    readonly needs?: Need;
    /** A page that a link of another site may open. */
    readonly document?: true;
    /** Logs its failures itself. */
    readonly logsItself?: true;
  }
  interface FastifyRequest {
    /** Who sends it. */
    principal: Principal;
    /** The login of the browser that sends it; null for a request without one. */
    login: Login | null;
  }
}

export interface GateOptions {
  readonly hosts: AllowedHosts;
  /** If set, every call needs it as a bearer token, except those that need nothing. */
  readonly token?: string | undefined;
  /** Without that one: a caller may have it, and then is authenticated. */
  readonly madeToken?: string | undefined;
  /** If set, a caller may have it instead, and then reads. */
  readonly readToken?: string | undefined;
  /** If set, it opens calls that need `metrics` too, and nothing else. */
  readonly metricsToken?: string | undefined;
  /** Origins whose pages may use the service beside its own. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Makes the access checks; each throws if it refuses a request. `checkOrigin` comes before anything
 * else of the request is read. `holderOf` says who has a token: null for nobody, a guest for one that is
 * not accepted.
 *
 * Error codes: `malformed_request` for a host that is not named exactly once, `host_refused`,
 * `origin_refused`; of `checkEntry` `unauthorized`, also for a wrong token if none is needed.
 */
export function createGate(options: GateOptions) {
  const hasToken = bearerCheck(options.token ?? options.madeToken);
  const hasReadToken = bearerCheck(options.readToken);
  const mayOmit = options.token === undefined;
  // a service without any token cannot say that one is wrong
  const ignoresTokens =
    mayOmit && options.madeToken === undefined && options.readToken === undefined;
  const hasMetricsToken = bearerCheck(options.metricsToken);
  return {
    checkOrigin: (request: FastifyRequest): void => {
      const { headers, socket } = request.raw;
      refuseUnclearHost(request.raw);
      refuseForeignHost(request, options.hosts);
      const isAllowed = options.allowedOrigins.includes(headers.origin ?? "");
      const mayComeFrom = !isForeign(headers) || opensDocument(request);
      const isOwn = isOwnOrigin(headers.origin, options.hosts, socket) && mayComeFrom;
      if (!isAllowed && !isOwn) {
        throw new RepriseError(
          "origin_refused",
          "The request comes from a web page of another origin. Allow that origin with --allow-origin if it may use this service.",
        );
      }
    },
    holderOf: ({ raw: { headers } }: FastifyRequest): Principal | null => {
      const { authorization } = headers;
      if (authorization === undefined) {
        return null;
      }
      if (hasToken(authorization)) {
        return tokenHolder("owner");
      }
      return hasReadToken(authorization) ? tokenHolder("reader") : GUEST;
    },
    checkEntry: ({ raw, principal, routeOptions }: FastifyRequest): void => {
      const { authorization } = raw.headers;
      const need = needOf(routeOptions);
      const mayEnter =
        principal.role !== "guest" ||
        need === "nothing" ||
        (mayOmit && (ignoresTokens || authorization === undefined)) ||
        (need === "metrics" && hasMetricsToken(authorization));
      if (!mayEnter) {
        throw new RepriseError(
          "unauthorized",
          "The bearer token is missing or invalid. Send it as `Authorization: Bearer <token>`.",
        );
      }
    },
  };
}

function refuseForeignHost(request: FastifyRequest, hosts: AllowedHosts): void {
  const { headers, socket, url = "" } = request.raw;
  if (headers.host === undefined && needOf(request.routeOptions) === "nothing") {
    // HTTP/1.0 has no Host header, and a load balancer's health check may use it
    return;
  }
  const { host = "" } = headers;
  const target = parseRequestTarget(url).host ?? host;
  if (!isOwnHost(host, hosts, socket) || (target !== host && !isOwnHost(target, hosts, socket))) {
    throw new RepriseError(
      "host_refused",
      "The Host header names another server; use the address the service prints at start, or allow the name with --allow-host.",
    );
  }
}

/** Refuses two Host headers: this service would check one while a proxy before it believed the other. */
function refuseUnclearHost({ rawHeaders, httpVersion }: FastifyRequest["raw"]): void {
  const isHost = (name: string): boolean => name.length === 4 && name.toLowerCase() === "host";
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && isHost(name)).length;
  if (count > 1 || (count === 0 && httpVersion === "1.1")) {
    throw new RepriseError(
      "malformed_request",
      "The request must have exactly one Host header; send the name and port of this service.",
    );
  }
}

function isOwnOrigin(origin: string | undefined, hosts: AllowedHosts, end: LocalEnd): boolean {
  if (origin === undefined) {
    return true;
  }
  const [, scheme, host] = /^(https?):\/\/([^/]+)$/i.exec(origin) ?? [];
  if (scheme === undefined || host === undefined) {
    return false;
  }
  // the service itself speaks plain HTTP: https is a proxy's, under a name that was allowed
  return scheme.toLowerCase() === "http"
    ? isOwnHost(host, hosts, end)
    : isExtraHost(host, hosts, end);
}

/** True if a browser says that a request without an Origin, such as for an image or a link, comes from elsewhere. */
function isForeign(headers: FastifyRequest["raw"]["headers"]): boolean {
  const site = headers["sec-fetch-site"];
  return site === "cross-site" || site === "same-site";
}

/** A link that a person follows, or an address typed in; not a frame, an image or a script. */
function opensDocument({ raw: { headers }, routeOptions }: FastifyRequest): boolean {
  const { "sec-fetch-mode": mode, "sec-fetch-dest": destination } = headers;
  return routeOptions.config.document === true && mode === "navigate" && destination === "document";
}

/** Makes the check of an Authorization header against a token. */
function bearerCheck(token: string | undefined): (authorization: string | undefined) => boolean {
  const isToken = secretCheck(token);
  return (authorization) => {
    const given = /^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1];
    return given !== undefined && isToken(given);
  };
}
