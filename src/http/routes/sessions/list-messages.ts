import { Type } from "typebox";

import { DEFAULT_LIST_LIMIT } from "../../../core/limits.ts";
import { MessagesQuery } from "../../../core/schemas/query-schemas.ts";
import { MessageInfo, named } from "../../../core/schemas/schemas.ts";
import {
  readMessagePage,
  readWholeMessagePage,
} from "../../../store/records/messages/message-page.ts";
import { JSON_TYPE, problems, written } from "../../responses.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";

const schema = {
  operationId: "listMessages",
  summary: "Lists messages of a session, a page of 16 MiB at most",
  description:
    "The oldest first, or with `order=desc` the latest first. `after_seq` and `before_seq` bound the list. Archived messages come with `all=true`. The next page is in the `Link` header.",
  params: SessionParams,
  querystring: MessagesQuery,
  response: {
    200: written(Type.Array(named(MessageInfo)), {
      description: "One page of messages.",
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

export function listMessagesRoute(app: Api, { store, publicPath, unsent }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id/messages",
    schema,
    config: { needs: "link" },
    handler: async (request, reply) => {
      const { limit = DEFAULT_LIST_LIMIT, order = "asc", all = false, ...bounds } = request.query;
      const where = {
        reference: request.params.id,
        after_seq: bounds.after_seq ?? 0,
        before_seq: bounds.before_seq ?? Number.MAX_SAFE_INTEGER,
        order,
        all,
        limit,
      };
      const { session_id, json, next } = await unsent.read(
        { request, reply },
        ({ max_bytes, or_nothing }) => {
          const input = { ...where, max_bytes };
          return or_nothing
            ? store.read(readWholeMessagePage, input)
            : store.read(readMessagePage, input);
        },
      );
      if (next !== null) {
        const begin = order === "asc" ? { after_seq: next } : { before_seq: next };
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries({ limit, order, all, ...bounds, ...begin })) {
          query.set(name, String(value));
        }
        const target = `${publicPath(request, `/api/sessions/${session_id}/messages`)}?${query.toString()}`;
        reply.header("link", `<${target}>; rel="next"`);
      }
      return reply.type(JSON_TYPE).send(json);
    },
  });
}
