import type { FastifyRequest } from "fastify";

import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { SessionEventSchema } from "../../../core/schemas/session-events.ts";
import { readChangePosition } from "../../events/change-events.ts";
import type { EventStreams } from "../../events/event-streams.ts";
import { problems } from "../../responses.ts";
import type { Api, SessionService } from "../api.ts";
import {
  eventStreamAnswer,
  lastEventId,
  lastEventIdHeader,
  streamHandlers,
} from "../event-stream.ts";

const schema = {
  operationId: "followEvents",
  summary: "Streams what changes in all sessions, as server-sent events",
  description:
    "For lists of sessions. `created` and `changed` have the session as the list shows it, `deleted` its id, `exchange`, `question` and `phase` what changed in a session: always the value of now. The stream resumes after `Last-Event-ID`. Without one, or if that is too old, it begins with `reset`: read the list after it.",
  querystring: NoQuery,
  headers: lastEventIdHeader("The id of the last event received."),
  response: {
    200: eventStreamAnswer(
      "The events; the schema is of one, whose data is JSON.",
      SessionEventSchema,
    ),
    ...problems(),
  },
};

export function sessionEventsRoute(
  app: Api,
  { unsent }: Pick<SessionService, "unsent">,
  events: EventStreams,
): void {
  const url = "/api/events";
  const positionOf = ({
    raw,
  }: Pick<FastifyRequest, "id" | "raw" | "principal" | "login" | "ip">) => ({
    after: lastEventId(raw, readChangePosition),
  });
  const { get, head } = streamHandlers({
    positionOf,
    serve: events.serve,
    hasMore: events.hasMore,
    pagesOf: unsent.streams,
  });
  app.route({ method: "GET", url, schema, exposeHeadRoute: false, handler: get });
  app.route({ method: "HEAD", url, schema: { ...schema, hide: true }, handler: head });
}
