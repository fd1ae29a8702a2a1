import { isIP, type Socket } from "node:net";

/** The names under which the service may be reached. */
export interface AllowedHosts {
  /** The address or name that the service is bound to. */
  readonly bound: string;
  /** More names, each `name` or `name:port`: those of a proxy in front of the service. */
  readonly extra: readonly string[];
}

/** Where a request came in: the local end of its connection. */
export type LocalEnd = Pick<Socket, "localAddress" | "localPort">;

/**
 * True for a Host header that names this service: an address or name it is bound to, with the
 * port it is bound to, or a name that was allowed. A web page that points its own name at
 * 127.0.0.1 (DNS rebinding) thus gets no answer.
 */
export function isOwnHost(host: string, hosts: AllowedHosts, end: LocalEnd): boolean {
  // compares with what nearly every request has, without making all the other names
  const { localPort } = end;
  const plain = localPort !== undefined && !hosts.bound.includes(":");
  if (plain && host === `${hosts.bound}:${localPort}`) {
    return true;
  }
  const wanted = withPort(host.toLowerCase());
  const port = String(localPort ?? "");
  const own = ownNames(hosts.bound, end).map((name) => `${name}:${port}`);
  return own.includes(wanted) || isExtraHost(host, hosts, end);
}

/** True for a name from `extra`: with its own port, or with the default one or the service's. */
export function isExtraHost(host: string, hosts: AllowedHosts, end: LocalEnd): boolean {
  const name = host.toLowerCase();
  return hosts.extra.some((extra) => {
    const allowed = extra.toLowerCase();
    return name === allowed || name === `${allowed}:${String(end.localPort ?? "")}`;
  });
}

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const name = plainAddress(host);
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

function ownNames(bound: string, end: LocalEnd): string[] {
  // the address that the connection came in on counts too: an address cannot be rebound
  const names = [bound, ...(end.localAddress === undefined ? [] : [end.localAddress])];
  const loopback = isLoopback(bound) ? ["127.0.0.1", "localhost", "::1"] : [];
  return [...names.map(plainAddress), ...loopback].map(inUrl);
}

function plainAddress(host: string): string {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name.startsWith("::ffff:") && isIP(name.slice(7)) === 4 ? name.slice(7) : name;
}

export function inUrl(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address;
}

function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:80`;
}
