import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance } from "fastify";
import { RepriseError } from "../../core/errors.ts";

/** How long a browser may remember the answer to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE_S = 600;

/**
 * Headers of MCP clients: "Standard Request Headers" of the transport of 2026-07-28, and the session of the one before, which
 * such a client may send although there is none here.
 */
const MCP_HEADERS = ["Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"];

/** Answers preflights of the given origins and lets their pages read the answers. */
export async function allowOrigins(
  app: FastifyInstance,
  origins: readonly string[],
): Promise<void> {
  const options: FastifyCorsOptions = {
    origin: [...origins],
    methods: ["GET", "HEAD", "POST", "PATCH", "DELETE"],
    allowedHeaders: [
      "Authorization",
      "Content-Type",
      "Idempotency-Key",
      "If-Match",
      "Last-Event-ID",
      ...MCP_HEADERS,
    ],
    exposedHeaders: ["ETag", "Link", "Location", "Reprise-Warning", "Retry-After", "X-Request-Id"],
    maxAge: PREFLIGHT_MAX_AGE_S,
    hideOptionsRoute: true,
  };
  await app.register(cors, {
    delegator: ({ method, headers }, decide) => {
      const isCall = method === "OPTIONS" && headers["access-control-request-method"] === undefined;
      // an OPTIONS request that is not a preflight is treated like any other method
      decide(null, isCall ? { ...options, preflight: false } : options);
    },
  });
}

/**
 * Reads origins as a browser writes them: scheme, host and port, nothing else. `*` is none, because
 * it would let every page that the user visits drive the service.
 *
 * Error codes: `config_invalid`.
 */
export function parseOrigins(origins: readonly string[]): readonly string[] {
  return origins.map((origin) => {
    const url = URL.canParse(origin) ? new URL(origin) : null;
    if (url === null || !["http:", "https:"].includes(url.protocol) || url.origin !== origin) {
      throw new RepriseError(
        "config_invalid",
        "An allowed origin must be a scheme, a host and, if needed, a port in lower case, such as http://localhost:5173. Wildcards are not allowed.",
      );
    }
    return origin;
  });
}
