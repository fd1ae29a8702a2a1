import { createMcpHandler } from "@modelcontextprotocol/server";

import { createServer, type ServedOptions } from "./create-server.ts";

export interface HttpRequest {
  readonly request: Request;
  /** The body of the request, parsed. */
  readonly body: unknown;
  /** Reaches the HTTP API as the sender of the request. */
  readonly send: typeof fetch;
}

/**
 * Answers requests over HTTP without a session, in both eras of the protocol: each has its own server, and nothing is kept
 * between them. Who sends it was checked before.
 */
export function createHttpAnswers(
  options: ServedOptions,
): (given: HttpRequest) => Promise<Response> {
  return async ({ request, body, send }) => {
    const handler = createMcpHandler(() => createServer(options, send), {
      // the tools never change, and a stream that waits for changes would not end
      maxSubscriptions: 0,
    });
    return handler.fetch(request, { parsedBody: body });
  };
}
