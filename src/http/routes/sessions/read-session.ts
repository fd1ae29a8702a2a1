import { DetailQuery } from "../../../core/schemas/query-schemas.ts";
import { named, SessionDetail } from "../../../core/schemas/schemas.ts";
import { detailRequested, wholeDetailRequested } from "../../../store/requests.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";
import { JSON_TYPE, problems, written } from "../../responses.ts";

const schema = {
  operationId: "getSession",
  summary: "Returns a session and its last messages, 200 and 16 MiB at most, ascending",
  description:
    "Archived messages come with `all=true`. If `has_earlier` is true, `before_seq` reads the messages before these. With `messages=false`, `messages` is empty, and `has_earlier` is true if there are any.",
  params: SessionParams,
  querystring: DetailQuery,
  response: {
    200: written(named(SessionDetail), { description: "The session." }),
    ...problems(SESSION_PROBLEMS),
  },
};

export function readSessionRoute(app: Api, { store, unsent }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id",
    schema,
    config: { needs: "link" },
    handler: async (request, reply) => {
      const { params, query } = request;
      const detail = await unsent.read({ request, reply }, ({ max_bytes, or_nothing }) => {
        const read = or_nothing ? wholeDetailRequested : detailRequested;
        return read(store, params.id, { ...query, max_bytes });
      });
      const isShared = request.principal.role === "visitor";
      return reply.type(JSON_TYPE).send(isShared ? withoutSurroundings(detail) : detail);
    },
  });
}

/**
 * Returns what a link shows of a session: neither its folder nor its persona, agent, metadata, permissions, costs, exchange, pin and
 * the sessions that it comes from.
 */
function withoutSurroundings(text: string): string {
  const detail = JSON.parse(text) as SessionDetail;
  return JSON.stringify({
    ...detail,
    persona_name: null,
    agent: null,
    repo_path: null,
    project_key: null,
    project_id: null,
    parent_session_id: null,
    forked_from: null,
    pinned_at: null,
    metadata: {},
    exchange: null,
    permission: null,
    usage: null,
    cost_micros: null,
  });
}
