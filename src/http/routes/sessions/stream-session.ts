import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";

import { StreamQuery } from "../../../core/schemas/query-schemas.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { problems } from "../../responses.ts";
import type { StreamPosition } from "../../stream/stream-pages.ts";
import type { Streams } from "../../stream/streams.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";
import {
  eventStreamAnswer,
  lastEventId,
  lastEventIdHeader,
  nothingLeft,
  streamHandlers,
} from "../event-stream.ts";

const schema = {
  operationId: "streamSession",
  summary: "Streams a session's messages as server-sent events, in order of seq",
  description:
    "Each event is `event: message` with `id: <seq>` and `data: <MessageInfo as JSON>`. The stream begins after `Last-Event-ID`, else after `last_seq`, else at the beginning, and continues with each message when it is stored. Comments keep it open. It closes once the session has ended and all is sent.",
  params: SessionParams,
  querystring: StreamQuery,
  headers: lastEventIdHeader("The `seq` of the last message received; it wins over `last_seq`."),
  response: {
    200: eventStreamAnswer("The stream.", { type: "string" }),
    204: nothingLeft("The session has ended and nothing is left to send."),
    ...problems(SESSION_PROBLEMS),
  },
} as const;

export function streamSessionRoute(
  app: Api,
  { store, unsent }: Pick<SessionService, "store" | "unsent">,
  streams: Streams,
): void {
  const url = "/api/sessions/:id/stream";
  const positionOf = async ({ params, query, raw }: Request): Promise<StreamPosition> => {
    const { all = false, last_seq } = query;
    const after_seq = lastEventId(raw, readSeq) ?? last_seq ?? 0;
    const { id } = await store.read(resolveSession, { reference: params.id });
    return { session_id: id, after_seq, all };
  };
  const { get, head } = streamHandlers({
    positionOf,
    serve: streams.serve,
    pagesOf: unsent.streams,
    hasMore: streams.hasMore,
  });
  const config = { needs: "link" } as const;
  app.route({ method: "GET", url, schema, config, exposeHeadRoute: false, handler: get });
  app.route({ method: "HEAD", url, schema: { ...schema, hide: true }, config, handler: head });
}

interface Request extends Pick<FastifyRequest, "id" | "raw" | "principal" | "login" | "ip"> {
  readonly params: Static<typeof SessionParams>;
  readonly query: Static<typeof StreamQuery>;
}

function readSeq(id: string): number | null {
  return /^\d{1,15}$/.test(id) ? Number(id) : null;
}
