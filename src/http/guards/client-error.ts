import { randomUUID } from "node:crypto";
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import { RepriseError, systemCode } from "../../core/errors.ts";
import { ANSWER_STALL_MS } from "../../core/limits.ts";
import type { Observe } from "../observation.ts";
import { PROBLEM_TYPE, problemOf } from "../problem.ts";

/**
 * Answers what never becomes a request: one that came too slowly (408), with too many headers
 * (431), that cannot be read (400), or a tunnel (404).
 */
export interface ClientErrors {
  readonly handler: (error: Error, socket: Socket) => void;
  /** Follows which answers each connection of the server still owes. */
  follow(server: Server): void;
}

export function createClientErrors(observe: Observe): ClientErrors {
  const owed = new WeakMap<Socket, Set<ServerResponse>>();
  const refused = new WeakSet<Socket>();
  return {
    handler: (error, socket) => {
      // the parser fails once more for all that comes after
      if (!refused.has(socket)) {
        refused.add(socket);
        observe({ kind: "unreadable", status: problemOf(refusalFor(error)).status });
        refuse(socket, { error, owed: [...(owed.get(socket) ?? [])] });
      }
    },
    follow: (server) => {
      server.on("request", ({ socket }, response) => {
        const answers = owed.get(socket) ?? new Set();
        owed.set(socket, answers.add(response));
        response.once("close", () => answers.delete(response));
      });
      server.on("connect", (_request, socket) => {
        socket.end(rawAnswer(NO_TUNNEL), () => socket.destroy());
      });
      // HTTP lets a server pass over what else a client expects; Node.js would answer 417 without a body
      server.on("checkExpectation", (request, response) =>
        server.emit("request", request, response),
      );
    },
  };
}

/**
 * A request that was pipelined after others is refused after their responses: written before them,
 * the error would be taken for the response to a request that succeeded. If the response to the
 * broken request itself has begun, an error would end up inside it, so the connection is closed.
 */
function refuse(
  socket: Socket,
  { error, owed }: { readonly error: Error; readonly owed: readonly ServerResponse[] },
): void {
  const broken = owed.find(({ req }) => !req.complete);
  const earlier = owed.findLast(({ req }) => req.complete);
  if (!socket.writable || broken?.headersSent === true) {
    socket.destroy();
  } else if (earlier === undefined) {
    socket.setTimeout(ANSWER_STALL_MS, () => socket.destroy());
    socket.end(rawAnswer(refusalFor(error)), () => socket.destroy());
  } else {
    const unanswered = broken === undefined ? [] : [broken];
    earlier.once("close", () => refuse(socket, { error, owed: unanswered }));
  }
}

function refusalFor(error: Error): RepriseError {
  return REFUSALS.get(String(systemCode(error))) ?? NOT_HTTP;
}

/** By Node's code of the error. */
const REFUSALS = new Map([
  [
    "ERR_HTTP_REQUEST_TIMEOUT",
    new RepriseError(
      "request_timeout",
      "The request took too long to arrive; send it again, faster or in smaller parts.",
    ),
  ],
  [
    "HPE_HEADER_OVERFLOW",
    new RepriseError(
      "headers_too_large",
      "The request's headers are too large; send 16 KiB of them at most.",
    ),
  ],
]);

const NOT_HTTP = new RepriseError(
  "malformed_request",
  "The request is not valid HTTP. Check its request line and headers.",
);

const NO_TUNNEL = new RepriseError(
  "route_not_found",
  "This service is not a proxy. See /openapi.json for its paths.",
);

function rawAnswer(refusal: RepriseError): string {
  const { status, body } = problemOf(refusal);
  const json = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(json)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${randomUUID()}`,
    "Connection: close",
    "",
    json,
  ].join("\r\n");
}
