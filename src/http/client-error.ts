import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { FastifyInstance } from "fastify";

import { RepriseError } from "../core/errors.ts";
import { PROBLEM_TYPE, problemOf } from "./problem.ts";

/**
 * Answers what is not a whole HTTP request: one that came too slowly (408), with too many headers
 * (431), or that cannot be read (400). Where an answer is already on its way, a second one would
 * end up inside it, so the connection is cut instead.
 */
export interface ClientErrors {
  readonly handler: (error: Error, socket: Socket) => void;
  /** Remembers the answer under way on each connection. */
  follow(app: FastifyInstance): void;
}

export function createClientErrors(): ClientErrors {
  const answers = new WeakMap<Socket, ServerResponse>();
  return {
    handler: (error, socket) => {
      const answer = answers.get(socket);
      if (!socket.writable || (answer?.headersSent === true && !answer.writableFinished)) {
        socket.destroy();
      } else {
        socket.end(rawAnswer(refusalOf(error)), () => socket.destroy());
      }
    },
    follow: (app) => {
      app.addHook("onRequest", (request, reply, done) => {
        answers.set(request.raw.socket, reply.raw);
        done();
      });
    },
  };
}

function refusalOf(error: Error): RepriseError {
  switch ("code" in error ? error.code : undefined) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RepriseError(
        "request_timeout",
        "The request took too long to arrive; send it again, faster or in smaller parts.",
      );
    case "HPE_HEADER_OVERFLOW":
      return new RepriseError(
        "headers_too_large",
        "The request's headers are too large; send 16 KiB of them at most.",
      );
    default:
      return new RepriseError(
        "malformed_request",
        "The request is not HTTP as this service reads it; check how it is written.",
      );
  }
}

function rawAnswer(refusal: RepriseError): string {
  const { status, body } = problemOf(refusal);
  const json = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(json)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
    "",
    json,
  ].join("\r\n");
}
