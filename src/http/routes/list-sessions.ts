import { Type } from "typebox";

import { DEFAULT_LIST_LIMIT } from "../../core/limits.ts";
import { ListQuery, named, SessionSummary } from "../../core/schemas.ts";
import { listSummaries } from "../../store/sessions/list.ts";
import type { Api, SessionService } from "./api.ts";
import { cursorOf, readCursor } from "./cursor.ts";
import { JSON_TYPE, problems, written } from "../responses.ts";

const schema = {
  operationId: "listSessions",
  summary: "Lists sessions, latest activity first, or in the order of their creation",
  description:
    "Sub-agents' sessions are in the list too. With `order=created` the pages lose no session that gets a message meanwhile. The next page is in the `Link` header.",
  querystring: ListQuery,
  response: {
    200: written(Type.Array(named(SessionSummary)), {
      description: "One page of sessions.",
      headers: {
        Link: {
          type: "string",
          description: 'The next page, as `<…>; rel="next"`, if there is one.',
        },
      },
    }),
    ...problems(),
  },
};

export function listSessionsRoute(app: Api, { store, publicPath }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions",
    schema,
    handler: async (request, reply) => {
      const { cursor, limit = DEFAULT_LIST_LIMIT, ...filters } = request.query;
      const { order = "activity" } = filters;
      const page = await store.read(listSummaries, {
        ...filters,
        limit,
        ...(cursor === undefined ? {} : { after: readCursor(cursor, order) }),
      });
      if (page.next !== null) {
        const query = new URLSearchParams({
          limit: String(limit),
          ...filters,
          cursor: cursorOf(page.next, order),
        });
        const next = `${publicPath(request, "/api/sessions")}?${query.toString()}`;
        reply.header("link", `<${next}>; rel="next"`);
      }
      return reply.type(JSON_TYPE).send(page.json);
    },
  });
}
