import type { FastifyInstance } from "fastify";

import { isRepriseError, systemCode } from "../../core/errors.ts";
import type { Observe } from "../observation.ts";

/** Receives one line of the log as plain data. */
export type Log = (line: Readonly<Record<string, unknown>>) => void;

/**
 * Logs each request once, when its answer is sent or its client is gone: method, route pattern,
 * status, duration and id. Never a URL, a header, a body or a query, which may hold what people
 * wrote. The id is our own: one that the client sent would be its text.
 */
export function logRequests(
  app: FastifyInstance,
  { log, observe }: { readonly log: Log; readonly observe: Observe },
): void {
  app.addHook("onRequest", (request, { raw: response }, done) => {
    const begun = performance.now();
    response.once("close", () => {
      const ms = performance.now() - begun;
      const { id, method } = request;
      const route = request.routeOptions.url ?? "none";
      // who went away before an answer got none
      const status = response.headersSent ? response.statusCode : null;
      log({
        level: response.statusCode >= 500 ? "warn" : "info",
        event: "request",
        id,
        method,
        route,
        status,
        sent: response.writableFinished,
        ms: Math.round(ms),
      });
      observe({ kind: "request", method, route, status, ms });
    });
    done();
  });
}

/**
 * Logs a failure of the service itself: the error's name and stack, and the cause if the database
 * failed. Any other message is left out, because it may quote what a client sent.
 */
export function logFailure(log: Log, error: unknown, id?: string): void {
  const failure = error instanceof Error ? error : new Error("unknown");
  log({
    level: "error",
    event: "failure",
    ...(id === undefined ? {} : { id }),
    error: failure.name,
    ...("code" in failure ? { code: failure.code } : {}),
    ...databaseReason(error),
    stack: (failure.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)),
  });
}

/**
 * Returns our sentence about the database, and the code of what the engine or the network said:
 * `database_unavailable` alone could be a wrong password as well as a server that is away.
 */
export function databaseReason(error: unknown): {
  readonly reason?: string;
  readonly cause?: string;
} {
  if (!isRepriseError(error) || !error.code.startsWith("database_")) {
    return {};
  }
  const { message, cause } = error;
  const code = systemCode(cause);
  return { reason: message, ...(typeof code === "string" ? { cause: code } : {}) };
}
