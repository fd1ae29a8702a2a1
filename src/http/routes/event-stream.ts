import type { FastifyReply, FastifyRequest } from "fastify";

import type { RepriseError } from "../../core/errors.ts";
import { invalidRequest } from "../../core/invalid-request.ts";
import { type AnswerHeader, REQUEST_ID } from "../responses.ts";
import type { StreamPages } from "../unsent/pages-in-turn.ts";
import { whoSends } from "../unsent/fair-line.ts";
import { beginStream, EVENT_STREAM } from "../stream/open-answers.ts";
import type { Serving } from "../stream/serving.ts";

/** How a call answers with server-sent events. */
interface EventStream<Request, Position> extends Serving<Position> {
  /** Error codes: those of the call, before its answer. */
  readonly positionOf: (request: Request) => Promise<Position> | Position;
  readonly pagesOf: StreamPages;
}

/** The handlers of GET and HEAD. */
export function streamHandlers<
  Request extends Pick<FastifyRequest, "id" | "principal" | "login" | "ip">,
  Position extends object,
>(stream: EventStream<Request, Position>) {
  return {
    get: async (request: Request, reply: FastifyReply): Promise<FastifyReply> => {
      const served = await stream.serve({
        ...(await stream.positionOf(request)),
        response: reply.raw,
        id: request.id,
        headers: reply.getHeaders(),
        begin: () => {
          reply.hijack();
        },
        pages: stream.pagesOf({ response: reply.raw, who: whoSends(request) }),
      });
      return served === "served" ? reply : reply.code(204).send(null);
    },
    head: async (request: Request, reply: FastifyReply): Promise<FastifyReply> => {
      if (!(await stream.hasMore(await stream.positionOf(request)))) {
        return reply.code(204).send(null);
      }
      // as GET: a length would say that the stream is empty
      reply.hijack();
      beginStream(reply.raw, reply.getHeaders());
      reply.raw.end();
      return reply;
    },
  };
}

/** For the OpenAPI document: the header by which a stream resumes. */
export function lastEventIdHeader(description: string) {
  return {
    type: "object",
    properties: { "Last-Event-ID": { type: "string", description } },
  } as const;
}

/** For the OpenAPI document: an answer of events; `schema` is of one. */
export function eventStreamAnswer<Schema>(description: string, schema: Schema) {
  const headers: Record<string, AnswerHeader> = { "X-Request-Id": REQUEST_ID };
  return { description, headers, content: { [EVENT_STREAM]: { schema } } };
}

/** Describes an answer without events. */
export function nothingLeft(description: string) {
  return { type: "null", description, headers: { "X-Request-Id": REQUEST_ID } };
}

/**
 * Reads the `Last-Event-ID`; null without one, and for the empty one that a browser sends that has received none.
 *
 * Error codes: `invalid_request` if `read` gives null.
 */
export function lastEventId<Position>(
  { headers }: FastifyRequest["raw"],
  read: (id: string) => Position | null,
): Position | null {
  const id = headers["last-event-id"];
  if (id === undefined || id === "") {
    return null;
  }
  const position = typeof id === "string" ? read(id) : null;
  if (position === null) {
    throw refuseEventId();
  }
  return position;
}

export function refuseEventId(): RepriseError {
  return invalidRequest([
    { pointer: "/Last-Event-ID", message: "Must be the id of an event of this stream." },
  ]);
}
