import { Type } from "typebox";

import { DEFAULT_LIST_LIMIT } from "../../core/limits.ts";
import { ExchangeInfo, ExchangesQuery, named, NoQuery } from "../../core/schemas.ts";
import { listExchanges, readExchange } from "../../store/exchanges/read.ts";
import { json, problems } from "../responses.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "./api.ts";

const listSchema = {
  operationId: "listExchanges",
  summary: "Lists the exchanges of a session, the latest first",
  description:
    "An exchange is one question to the agent with all that it does until it answers. Exchanges of versions that kept no records are not in the list. The next page is in the `Link` header.",
  params: SessionParams,
  querystring: ExchangesQuery,
  response: {
    200: json(Type.Array(named(ExchangeInfo)), {
      description: "One page of exchanges.",
      headers: {
        Link: {
          type: "string",
          description: 'The next page, as `<…>; rel="next"`, if there is one.',
        },
      },
    }),
    ...problems(SESSION_PROBLEMS),
  },
};

const readSchema = {
  operationId: "getExchange",
  summary: "Returns one exchange of a session",
  params: Type.Object({
    ...SessionParams.properties,
    n: Type.String({ description: "The exchange's number." }),
  }),
  querystring: NoQuery,
  response: {
    200: json(named(ExchangeInfo), { description: "The exchange." }),
    ...problems({ ...SESSION_PROBLEMS, 404: "The session or the exchange does not exist." }),
  },
};

export function exchangeRoutes(app: Api, { store, publicPath }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id/exchanges",
    schema: listSchema,
    handler: async (request, reply) => {
      const { limit = DEFAULT_LIST_LIMIT, before_n } = request.query;
      const reference = request.params.id;
      const records = await store.read(listExchanges, { reference, before_n, limit: limit + 1 });
      const page = records.slice(0, limit);
      const last = page.at(-1);
      if (records.length > limit && last !== undefined) {
        const query = new URLSearchParams({ limit: String(limit), before_n: String(last.n) });
        const path = publicPath(request, `/api/sessions/${last.session_id}/exchanges`);
        reply.header("link", `<${path}?${query.toString()}>; rel="next"`);
      }
      return page;
    },
  });
  app.route({
    method: "GET",
    url: "/api/sessions/:id/exchanges/:n",
    schema: readSchema,
    handler: ({ params: { id, n } }) =>
      store.read(readExchange, { reference: id, n: /^[1-9]\d{0,14}$/.test(n) ? Number(n) : 0 }),
  });
}
