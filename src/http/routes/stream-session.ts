import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";

import { StreamQuery } from "../../core/schemas.ts";
import { resolveSession } from "../../store/sessions/read.ts";
import type { Store } from "../../store/store.ts";
import { type Api, SESSION_PROBLEMS, SessionParams } from "./api.ts";
import { problems, REQUEST_ID } from "../responses.ts";
import type { StreamPosition } from "../stream/stream-pages.ts";
import { beginStream, EVENT_STREAM } from "../stream/open-answers.ts";
import type { Streams } from "../stream/streams.ts";
import { invalidRequest } from "../../core/invalid-request.ts";

const schema = {
  operationId: "streamSession",
  summary: "Streams a session's messages as server-sent events, in order of seq",
  description:
    "Each event is `event: message` with `id: <seq>` and `data: <MessageInfo as JSON>`. The stream begins after `Last-Event-ID`, else after `last_seq`, else at the beginning, and continues with each message when it is stored. Comments keep it open. It closes once the session has ended and all is sent.",
  params: SessionParams,
  querystring: StreamQuery,
  headers: {
    type: "object",
    properties: {
      "Last-Event-ID": {
        type: "string",
        description: "The `seq` of the last message received; it wins over `last_seq`.",
      },
    },
  },
  response: {
    200: {
      description: "The stream.",
      headers: { "X-Request-Id": REQUEST_ID },
      content: { [EVENT_STREAM]: { schema: { type: "string" } } },
    },
    204: {
      type: "null",
      description: "The session has ended and nothing is left to send.",
      headers: { "X-Request-Id": REQUEST_ID },
    },
    ...problems(SESSION_PROBLEMS),
  },
} as const;

export function streamSessionRoute(app: Api, store: Store, streams: Streams): void {
  const url = "/api/sessions/:id/stream";
  const positionOf = async ({ params, query, raw }: StreamRequest): Promise<StreamPosition> => {
    const { all = false, last_seq } = query;
    const after_seq = lastEventId(raw) ?? last_seq ?? 0;
    const { id } = await store.read(resolveSession, { reference: params.id });
    return { session_id: id, after_seq, all };
  };
  app.route({
    method: "GET",
    url,
    schema,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const served = await streams.serve({
        position: await positionOf(request),
        response: reply.raw,
        id: request.id,
        headers: reply.getHeaders(),
        begin: () => {
          reply.hijack();
        },
      });
      return served === "served" ? reply : reply.code(204).send(null);
    },
  });
  app.route({
    method: "HEAD",
    url,
    schema: { ...schema, hide: true },
    handler: async (request, reply) => {
      if (!(await streams.hasMore(await positionOf(request)))) {
        return reply.code(204).send(null);
      }
      // as GET: a length would say that the stream is empty
      reply.hijack();
      beginStream(reply.raw, reply.getHeaders());
      reply.raw.end();
      return reply;
    },
  });
}

interface StreamRequest extends Pick<FastifyRequest, "raw"> {
  readonly params: Static<typeof SessionParams>;
  readonly query: Static<typeof StreamQuery>;
}

/** An empty id is what a browser sends that has received none. Error codes: `invalid_request`. */
function lastEventId({ headers }: FastifyRequest["raw"]): number | undefined {
  const id = headers["last-event-id"];
  if (id === undefined || id === "") {
    return undefined;
  }
  if (typeof id !== "string" || !/^\d{1,15}$/.test(id)) {
    throw invalidRequest([
      { pointer: "/Last-Event-ID", message: "Must be the id of a message of this stream." },
    ]);
  }
  return Number(id);
}
