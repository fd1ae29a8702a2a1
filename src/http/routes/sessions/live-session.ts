import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";

import { LiveEventSchema } from "../../../core/schemas/live.ts";
import { positionAfter, readPosition } from "../../../core/live/live-position.ts";
import { LiveQuery } from "../../../core/schemas/query-schemas.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import type { FollowedSession, LiveStreams } from "../../live/live-streams.ts";
import { problems } from "../../responses.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";
import {
  eventStreamAnswer,
  lastEventId,
  lastEventIdHeader,
  nothingLeft,
  refuseEventId,
  streamHandlers,
} from "../event-stream.ts";

const schema = {
  operationId: "followLive",
  summary: "Streams what happens in a session now, as server-sent events",
  description:
    "The first event is `snapshot`. Answers arrive as `text`, piece by piece; `message` is a stored message, and its content is the joined texts of its `message_id`. `reset` declares the texts of a message void. The other events are the value of a state now. The stream resumes after `Last-Event-ID`, else it begins after `after_seq`, else with what is new.",
  params: SessionParams,
  querystring: LiveQuery,
  headers: lastEventIdHeader("The id of the last event received; it wins over `after_seq`."),
  response: {
    200: eventStreamAnswer(
      "The live feed; the schema is of one event, whose data is JSON.",
      LiveEventSchema,
    ),
    204: nothingLeft("The session has ended and the client has everything."),
    ...problems(SESSION_PROBLEMS),
  },
};

export function liveSessionRoute(
  app: Api,
  { store, unsent }: Pick<SessionService, "store" | "unsent">,
  live: LiveStreams,
): void {
  const url = "/api/sessions/:id/live";
  const positionOf = async (request: Request): Promise<FollowedSession> => {
    const { params, query, raw, principal } = request;
    const { all = false, after_seq } = query;
    const resumed = lastEventId(raw, readPosition);
    const { id, last_seq } = await store.read(resolveSession, { reference: params.id });
    if (resumed !== null && resumed.seq > last_seq) {
      throw refuseEventId();
    }
    const position = resumed ?? positionAfter(after_seq ?? last_seq);
    const { role } = principal;
    return { session_id: id, position, all, role, isResumed: resumed !== null };
  };
  const { get, head } = streamHandlers({
    positionOf,
    serve: live.serve,
    hasMore: live.hasMore,
    pagesOf: unsent.streams,
  });
  app.route({ method: "GET", url, schema, exposeHeadRoute: false, handler: get });
  app.route({ method: "HEAD", url, schema: { ...schema, hide: true }, handler: head });
}

interface Request extends Pick<FastifyRequest, "id" | "raw" | "principal" | "login" | "ip"> {
  readonly params: Static<typeof SessionParams>;
  readonly query: Static<typeof LiveQuery>;
}
