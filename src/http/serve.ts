import { once } from "node:events";
import type { Server } from "node:http";

import { RepriseError } from "../core/errors.ts";
import { MAX_CONNECTIONS, SHUTDOWN_GRACE_MS } from "../core/limits.ts";
import { type App, createApp } from "./app.ts";
import type { AppOptions } from "./app-options.ts";
import { trackConnections } from "./guards/connections.ts";
import { inUrl, isLoopback } from "./guards/hosts.ts";
import { listen, type ListenAddress, portOf } from "./listen.ts";

/** On another address than loopback, it needs a `token`; a `madeToken` does not count there. */
export interface ServerOptions extends Omit<AppOptions, "hosts">, ListenAddress {
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
  const { token, madeToken, readToken, metricsToken } = options;
  if ([token, madeToken, readToken, metricsToken].includes("")) {
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
  if (readToken !== undefined && [token, madeToken].includes(readToken)) {
    throw new RepriseError(
      "config_invalid",
      "The read token is also the token of the service, which may do everything. Use different tokens.",
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
    await listen(server, options);
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

function urlOf(server: Server, host: string): string {
  return `http://${inUrl(host.replace(/^\[(.*)\]$/, "$1"))}:${portOf(server)}`;
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
    await Promise.all([app.closeStreams(), closed]);
  } finally {
    clearInterval(sweep);
    clearTimeout(deadline);
  }
  await app.fastify.close();
}
