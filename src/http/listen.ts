import { once } from "node:events";
import { createServer, type ListenOptions, type Server } from "node:net";

import { RepriseError, systemCode } from "../core/errors.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** True to share the port with other processes that do so, too. Linux only. */
  readonly shared?: boolean | undefined;
}

/** Error codes: `address_unavailable`. */
export async function listen(
  server: Server,
  { host, port, shared = false }: ListenAddress,
): Promise<void> {
  // a single address, not both of "localhost": a second listener would never be closed
  const options: ListenOptions = { host: host === "localhost" ? "127.0.0.1" : host, port };
  try {
    server.listen(shared ? { ...options, reusePort: true } : options);
    await once(server, "listening");
  } catch (cause) {
    throw new RepriseError(
      "address_unavailable",
      systemCode(cause) === "EADDRINUSE"
        ? "Another program listens on this address; stop it, or choose another port with --port."
        : "The service cannot listen on this address; choose one of this machine's with --host and a port above 1023 with --port.",
      { cause },
    );
  }
}

/** The port on which a server listens. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new TypeError("a listening server has an address and a port");
  }
  return address.port;
}

/**
 * A port on which nobody listens: the given one, or any for 0. Processes that share a port would not
 * notice that others do.
 *
 * Error codes: `address_unavailable`.
 */
export async function freePort(address: ListenAddress): Promise<number> {
  const server = createServer();
  await listen(server, address);
  const port = portOf(server);
  server.close();
  await once(server, "close");
  return port;
}
