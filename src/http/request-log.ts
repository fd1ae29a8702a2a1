import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Receives one line of the log as plain data. */
export type Log = (line: Readonly<Record<string, unknown>>) => void;

/**
 * Logs each request once, when its answer is sent or its client is gone: method, route pattern,
 * status, duration and id. Never a URL, a header, a body or a query, which may hold what people
 * wrote.
 */
export function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook("onRequest", (request, reply, done) => {
    const begun = performance.now();
    reply.raw.once("close", () => log(lineOf(request, reply, performance.now() - begun)));
    done();
  });
}

function lineOf(request: FastifyRequest, reply: FastifyReply, ms: number) {
  return {
    event: "request",
    id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? "none",
    status: reply.raw.statusCode,
    sent: reply.raw.writableFinished,
    ms: Math.round(ms),
  };
}

/**
 * Logs a failure of the service itself: the error's name and where it was thrown. Its message is
 * left out, because an engine's or a parser's message may quote what a client sent.
 */
export function logFailure(log: Log, error: unknown, id?: string): void {
  const failure = error instanceof Error ? error : new Error("unknown");
  log({
    event: "failure",
    ...(id === undefined ? {} : { id }),
    error: failure.name,
    ...("code" in failure ? { code: failure.code } : {}),
    stack: (failure.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)),
  });
}
