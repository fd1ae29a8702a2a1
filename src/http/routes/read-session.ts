import { MAX_DETAIL_BYTES } from "../../core/limits.ts";
import { sessionSummary } from "../../core/answers.ts";
import { DetailQuery, named, SessionDetail } from "../../core/schemas.ts";
import { readDetailWithin } from "../../store/messages/detail-within.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "./api.ts";
import { JSON_TYPE, problems, written } from "../responses.ts";

const schema = {
  operationId: "getSession",
  summary: "Returns a session and its last messages, 200 and 16 MiB at most, ascending",
  description:
    "Archived messages come with `all=true`. If `has_earlier` is true, `before_seq` reads the messages before these.",
  params: SessionParams,
  querystring: DetailQuery,
  response: {
    200: written(named(SessionDetail), { description: "The session." }),
    ...problems(SESSION_PROBLEMS),
  },
};

export function readSessionRoute(app: Api, { store }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id",
    schema,
    handler: async (request, reply) => {
      const { all = false, ...before } = request.query;
      const reference = request.params.id;
      const detail = await store.read(readDetailWithin, {
        reference,
        all,
        ...before,
        max_bytes: MAX_DETAIL_BYTES,
      });
      const summary = JSON.stringify(sessionSummary(detail.session)).slice(0, -1);
      return reply
        .type(JSON_TYPE)
        .send(`${summary},"messages":${detail.json},"has_earlier":${detail.has_earlier}}`);
    },
  });
}
