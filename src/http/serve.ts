import { once } from "node:events";
import type { Server } from "node:http";
import type { ListenOptions } from "node:net";

import { RepriseError, systemCode } from "../core/errors.ts";
import { MAX_CONNECTIONS, SHUTDOWN_GRACE_MS } from "../core/limits.ts";
import { type App, type AppOptions, createApp } from "./app.ts";
import { trackConnections } from "./guards/connections.ts";
import { inUrl, isLoopback } from "./guards/hosts.ts";

export interface ServerOptions extends Omit<AppOptions, "hosts"> {
  /** An address or name of this machine. Any but loopback needs a token. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** More names that the Host header may hold, each `name` or `name:port`. */
  readonly allowHosts?: readonly string[] | undefined;
  /** How long running requests may continue once `close` is called; 5 s by default. */
  readonly graceMs?: number | undefined;
}

export interface RunningServer {
  /** Where it listens, with the port it got: `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly app: App;
  /** Makes `/readyz` fail while everything else continues, so that a load balancer goes elsewhere. */
  retire(): void;
  /**
   * Closes the listener first, so that a stream that reconnects is refused without an answer,
   * then the streams, then what is still open after the grace. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Makes the service and listens.
 *
 * Error codes: `config_invalid` for another address than loopback without a token,
 * `address_unavailable` if the address is in use or not this machine's.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  if (options.token === undefined && !isLoopback(options.host)) {
    throw new RepriseError(
      "config_invalid",
      "Other machines can reach this address, so the service needs a token; set REPRISE_TOKEN or --token-file, or listen on 127.0.0.1.",
    );
  }
  if (options.token === "" || options.metricsToken === "") {
    throw new RepriseError(
      "config_invalid",
      "The token is empty. Set a token, or remove the option.",
    );
  }
  if (options.metricsToken !== undefined && options.token === undefined) {
    throw new RepriseError(
      "config_invalid",
      "A token for the metrics alone protects nothing while everything else is open; set REPRISE_TOKEN or --token-file too.",
    );
  }
  const app = await createApp({
    ...options,
    hosts: { bound: options.host, extra: options.allowHosts ?? [] },
  });
  const { server } = app.fastify;
  server.maxConnections = MAX_CONNECTIONS;
  const closeUnused = trackConnections(server);
  try {
    // one address, not both of "localhost": a second listener would never be closed
    const host = options.host === "localhost" ? "127.0.0.1" : options.host;
    await listen(server, { host, port: options.port });
  } catch (error) {
    await app.fastify.close();
    throw error;
  }
  let closing: Promise<void> | null = null;
  return {
    url: urlOf(server, options.host),
    app,
    retire: app.retire,
    close: () => (closing ??= closeAll(app, closeUnused, options.graceMs ?? SHUTDOWN_GRACE_MS)),
  };
}

async function listen(server: Server, where: ListenOptions): Promise<void> {
  try {
    server.listen(where);
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

function urlOf(server: Server, host: string): string {
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new TypeError("a listening server has an address and a port");
  }
  return `http://${inUrl(host.replace(/^\[(.*)\]$/, "$1"))}:${address.port}`;
}

/** How often connections that are done are closed while the last requests finish. */
const SWEEP_MS = 20;

async function closeAll(app: App, closeUnused: () => void, graceMs: number): Promise<void> {
  const { server } = app.fastify;
  app.retire();
  const closed = once(server, "close");
  server.close();
  const sweep = setInterval(closeUnused, SWEEP_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  try {
    await Promise.all([app.streams.close(), closed]);
  } finally {
    clearInterval(sweep);
    clearTimeout(deadline);
  }
  await app.fastify.close();
}
