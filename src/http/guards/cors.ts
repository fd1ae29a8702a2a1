import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance } from "fastify";

/** How long a browser may remember the answer to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE_S = 600;

/** Answers preflights of the given origins and lets their pages read the answers. */
export async function allowOrigins(
  app: FastifyInstance,
  origins: readonly string[],
): Promise<void> {
  const options: FastifyCorsOptions = {
    origin: [...origins],
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
    exposedHeaders: ["ETag", "Link", "Location", "Retry-After", "X-Request-Id"],
    maxAge: PREFLIGHT_MAX_AGE_S,
    hideOptionsRoute: true,
  };
  await app.register(cors, {
    delegator: ({ method, headers }, decide) => {
      const isCall = method === "OPTIONS" && headers["access-control-request-method"] === undefined;
      // OPTIONS that is no preflight is a method like any other
      decide(null, isCall ? { ...options, preflight: false } : options);
    },
  });
}
