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
    return withoutEcho(await handler.fetch(request, { parsedBody: body }));
  };
}

/** Refusals of the protocol whose sentences by the SDK quote headers and the body. */
const SENTENCES: ReadonlyMap<unknown, string> = new Map([
  [-32_020, "Mcp-Protocol-Version, Mcp-Method and Mcp-Name must say the same as the body."],
  [-32_022, "This version of the protocol is not supported. Use one of data.supported."],
  [-32_602, "The parameters do not fit the method, or the version of the protocol."],
]);

/** Leaves out of a refusal what the client has sent, but for its id. */
async function withoutEcho(response: Response): Promise<Response> {
  const type = response.headers.get("content-type") ?? "";
  if (response.status < 400 || !type.startsWith("application/json")) {
    return response;
  }
  const { id = null, error } = Object(await response.json());
  const { code, message, data } = Object(error);
  const { supported } = Object(data);
  const sentence = SENTENCES.get(code) ?? (VERSION_HEADER.test(message) ? OTHER_VERSION : message);
  const refusal = {
    jsonrpc: "2.0",
    error: {
      code,
      message: sentence,
      ...(supported === undefined ? {} : { data: { supported, requested: requestedIn(data) } }),
    },
    id,
  };
  return Response.json(refusal, { status: response.status });
}

/** The protocol before has no code for an unknown version in its header. */
const VERSION_HEADER = /unsupported protocol version/i;
const OTHER_VERSION = "Mcp-Protocol-Version names a version of the protocol that is not supported.";

function requestedIn(data: unknown): string {
  const { requested } = Object(data);
  return /^\d{4}-\d\d-\d\d$/.test(requested) ? requested : "unknown";
}
