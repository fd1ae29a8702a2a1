import { RepriseError } from "../../core/errors.ts";
import { invalidRequest } from "../../core/invalid-request.ts";
import { SearchInfo, SearchQuery } from "../../core/schemas/search-schemas.ts";
import { projectKeyOf } from "../../store/project-key.ts";
import { searchMessages } from "../../store/search.ts";
import { json, problems } from "../responses.ts";
import type { Api, SessionService } from "./api.ts";

const schema = {
  operationId: "searchMessages",
  summary: "Finds messages, names and titles by their words",
  description:
    "Names and titles come first, then messages of users and models, then results of tools; of each, the newest first. The next page is in the `Link` header. What is new is indexed before.",
  querystring: SearchQuery,
  response: {
    200: json(SearchInfo, {
      description: "One page of results.",
      headers: {
        Link: {
          type: "string",
          description: 'The next page, as `<…>; rel="next"`, if there is one.',
        },
      },
    }),
    ...problems({ 409: "`search_off`: the config turns the search off." }),
  },
};

/** `isOn` says whether the config lets messages be searched. */
export function searchRoute(
  api: Api,
  { store, publicPath }: Pick<SessionService, "store" | "publicPath">,
  isOn: () => Promise<boolean>,
): void {
  api.route({
    method: "GET",
    url: "/api/search",
    schema,
    handler: async (request, reply) => {
      if (!(await isOn())) {
        throw new RepriseError(
          "search_off",
          "The config of the service turns the search off; set `search` to `on` there.",
        );
      }
      const { q, limit, cursor, repo_path, since, ...filters } = request.query;
      const { next, results, ...page } = await searchMessages(store, {
        ...filters,
        query: q,
        limit,
        cursor,
        since: since === undefined ? undefined : momentOf(since),
        project_key: repo_path === undefined ? undefined : await projectKeyOf(repo_path),
      });
      if (next !== null) {
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries({ ...request.query, cursor: next })) {
          query.set(name, String(value));
        }
        reply.header("link", `<${publicPath(request, "/api/search")}?${query}>; rel="next"`);
      }
      const marked = results.map(({ marks, ...result }) => ({
        ...result,
        marks: marks.map((place) => [...place]),
      }));
      return { ...page, results: marked };
    },
  });
}

/** Error codes: `invalid_request` for a day that no calendar has. */
function momentOf(since: string): string {
  const moment = new Date(since);
  if (Number.isNaN(moment.getTime())) {
    throw invalidRequest([{ pointer: "/since", message: "Must be a day or a time in UTC." }]);
  }
  return moment.toISOString();
}
