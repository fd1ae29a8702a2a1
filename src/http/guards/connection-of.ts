import { isIP, isIPv6 } from "node:net";

import type { FastifyRequest } from "fastify";

import { isLoopback } from "./hosts.ts";
import type { PublicPath } from "./public-path.ts";

/** How a browser reaches the service. */
export interface PageConnection {
  /** True for TLS, which a proxy ends. */
  readonly isSecure: boolean;
  /** True if what is sent can be read on the network. */
  readonly plainHttp: boolean;
  readonly cookie: {
    readonly name: string;
    /** Text after the value in `Set-Cookie`, but for its age. */
    readonly attributes: string;
  };
}

export interface ConnectionOptions {
  readonly publicPath: PublicPath;
  /** True if only a proxy can reach the service: its `X-Forwarded-Proto` is believed. */
  readonly trustProxy: boolean;
}

/**
 * All ports of a host share cookies, so the name holds the port. With TLS the prefix `__Host-` keeps other hosts from
 * setting the cookie; it allows no path but `/`, so there the name holds the public path.
 */
export function connectionOf(
  request: FastifyRequest,
  { publicPath, trustProxy }: ConnectionOptions,
): PageConnection {
  const { headers } = request.raw;
  const { host = "" } = headers;
  const isSecure = trustProxy && /^https(?:,|$)/i.test(String(headers["x-forwarded-proto"] ?? ""));
  const path = publicPath(request, "/");
  const [, name = host, port = "80"] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return {
    isSecure,
    // browsers send the header only to this machine and with TLS
    plainHttp: !isSecure && !isLoopback(name) && headers["sec-fetch-site"] === undefined,
    cookie: isSecure
      ? {
          name: `__Host-reprise${path.slice(0, -1).replaceAll("/", ".")}`,
          attributes: "Path=/; HttpOnly; SameSite=Strict; Secure",
        }
      : { name: `reprise-${port}`, attributes: `Path=${path}; HttpOnly; SameSite=Strict` },
  };
}

/**
 * Returns what failed logins are counted by: the address of the connection, or the one that the proxy before the
 * service saw. The owner of an IPv6 address has all that begin with the same 64 bits.
 */
export function addressOf(
  request: FastifyRequest,
  { trustProxy }: Pick<ConnectionOptions, "trustProxy">,
): string {
  const { headers, socket } = request.raw;
  const forwarded = trustProxy ? [headers["x-forwarded-for"] ?? []].flat().join(",") : "";
  const last = forwarded.slice(forwarded.lastIndexOf(",") + 1).trim();
  const address = isIP(last) === 0 ? (socket.remoteAddress ?? "") : last;
  return isIPv6(address) ? networkOf(address) : address;
}

function networkOf(address: string): string {
  if (address.includes(".")) {
    // an IPv4 address in another form
    return address.slice(address.lastIndexOf(":") + 1);
  }
  const [start = "", end = ""] = address.replace(/%.*$/, "").split("::");
  const before = start.split(":").filter((part) => part !== "");
  const after = end.split(":").filter((part) => part !== "");
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(":");
}

/** The values of a cookie: a browser sends several if they were set for several paths. */
export function cookieValues(header: string, name: string): string[] {
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
