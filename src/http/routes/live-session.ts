import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";

import { invalidRequest } from "../../core/invalid-request.ts";
import { LiveEventSchema } from "../../core/live.ts";
import { positionAfter, readPosition } from "../../core/live-position.ts";
import { LiveQuery } from "../../core/schemas.ts";
import { resolveSession } from "../../store/sessions/read.ts";
import type { Store } from "../../store/store.ts";
import type { LiveRequest, LiveStreams } from "../live/live-streams.ts";
import { problems, REQUEST_ID } from "../responses.ts";
import { beginStream, EVENT_STREAM, type StreamAnswer } from "../stream/open-answers.ts";
import { type Api, SESSION_PROBLEMS, SessionParams } from "./api.ts";

const schema = {
  operationId: "followLive",
  summary: "Streams what happens in a session now, as server-sent events",
  description:
    "The first event is `snapshot`. Answers arrive as `text`, piece by piece; `message` is a stored message, and its content is the joined texts of its `message_id`. `reset` declares the texts of a message void. The other events are the value of a state now. The stream resumes after `Last-Event-ID`, else it begins after `after_seq`, else with what is new.",
  params: SessionParams,
  querystring: LiveQuery,
  headers: {
    type: "object",
    properties: {
      "Last-Event-ID": {
        type: "string",
        description: "The id of the last event received; it wins over `after_seq`.",
      },
    },
  },
  response: {
    200: {
      description: "The live feed; the schema is of one event, whose data is JSON.",
      headers: { "X-Request-Id": REQUEST_ID },
      content: { [EVENT_STREAM]: { schema: LiveEventSchema } },
    },
    204: {
      type: "null",
      description: "The session has ended and the client has everything.",
      headers: { "X-Request-Id": REQUEST_ID },
    },
    ...problems(SESSION_PROBLEMS),
  },
};

type Position = Omit<LiveRequest, keyof StreamAnswer>;

export function liveSessionRoute(app: Api, store: Store, live: LiveStreams): void {
  const url = "/api/sessions/:id/live";
  const positionOf = async ({ params, query, raw }: Request): Promise<Position> => {
    const { all = false, after_seq } = query;
    const resumed = lastEventId(raw);
    const { id, last_seq } = await store.read(resolveSession, { reference: params.id });
    if (resumed !== null && resumed.seq > last_seq) {
      throw refuseEventId();
    }
    const position = resumed ?? positionAfter(after_seq ?? last_seq);
    return { session_id: id, position, all, isResumed: resumed !== null };
  };
  app.route({
    method: "GET",
    url,
    schema,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const served = await live.serve({
        ...(await positionOf(request)),
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
      if (!(await live.hasMore(await positionOf(request)))) {
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

interface Request extends Pick<FastifyRequest, "raw"> {
  readonly params: Static<typeof SessionParams>;
  readonly query: Static<typeof LiveQuery>;
}

/** An empty id is what a browser sends that has received none. Error codes: `invalid_request`. */
function lastEventId({ headers }: FastifyRequest["raw"]) {
  const id = headers["last-event-id"];
  if (id === undefined || id === "") {
    return null;
  }
  const position = typeof id === "string" ? readPosition(id) : null;
  if (position === null) {
    throw refuseEventId();
  }
  return position;
}

function refuseEventId() {
  return invalidRequest([
    { pointer: "/Last-Event-ID", message: "Must be the id of an event of this stream." },
  ]);
}
