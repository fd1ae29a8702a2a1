import { Type } from "typebox";

import { DEFAULT_LIST_LIMIT } from "../../../core/limits.ts";
import { ListQuery } from "../../../core/schemas/query-schemas.ts";
import { named, SessionSummary } from "../../../core/schemas/schemas.ts";
import { listRequested } from "../../../store/requests.ts";
import type { Api, SessionService } from "../api.ts";
import { JSON_TYPE, problems, written } from "../../responses.ts";

const schema = {
  operationId: "listSessions",
  summary: "Lists sessions, latest activity first, or in the order of their creation",
  description:
    "Sub-agents' and archived sessions are in the list too. Filters are combined with AND: `title` is the beginning of the name or the title, `metadata` a pair as `key:value`, `repo_path` a folder, `forked_from` the origin of forks. With `order=created` the pages lose no session that gets a message meanwhile. The next page is in the `Link` header.",
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

export function listSessionsRoute(app: Api, { store, publicPath, unsent }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions",
    schema,
    handler: async (request, reply) => {
      const { limit = DEFAULT_LIST_LIMIT, cursor: _, ...filters } = request.query;
      const { json, next } = await unsent.read(
        { request, reply },
        async ({ max_bytes, or_nothing }) => {
          if (!or_nothing) {
            return listRequested(store, { ...request.query, max_bytes });
          }
          // a long list is made in its turn: its size is known only once it was read
          const page =
            limit > DEFAULT_LIST_LIMIT ? null : await listRequested(store, request.query);
          return page === null || page.json.length > max_bytes ? null : page;
        },
      );
      if (next !== null) {
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries({ limit, ...filters, cursor: next })) {
          query.set(name, String(value));
        }
        const target = `${publicPath(request, "/api/sessions")}?${query.toString()}`;
        reply.header("link", `<${target}>; rel="next"`);
      }
      return reply.type(JSON_TYPE).send(json);
    },
  });
}
