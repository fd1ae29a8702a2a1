import { Type } from "typebox";

import { AccessInfo } from "../../core/schemas/access-schemas.ts";
import { isUuid } from "../../core/ids.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import { named } from "../../core/schemas/schemas.ts";
import { listAccess, noAccess, revokeAccess } from "../../store/records/access/list.ts";
import type { Store } from "../../store/store.ts";
import { refuseBody } from "../guards/json-body.ts";
import { json, problems, REQUEST_ID } from "../responses.ts";
import type { Api } from "./api.ts";

const TOKEN = { 403: "`token_required`: the request has no token." };

const listSchema = {
  operationId: "listAccess",
  summary: "Lists the browsers that are logged in, and the links of sessions",
  description: "Those that are valid now, the oldest first, without secrets.",
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(AccessInfo)), { description: "The logins and links." }),
    ...problems(TOKEN),
  },
};

const revokeSchema = {
  operationId: "revokeAccess",
  summary: "Ends a login or a link at once, on all services of the database",
  description: "With a link, the logins of those who opened it end, too.",
  params: Type.Object({ id: Type.String({ description: "The id of the login or the link." }) }),
  querystring: NoQuery,
  response: {
    204: { type: "null", description: "Done.", headers: { "X-Request-Id": REQUEST_ID } },
    ...problems({ ...TOKEN, 404: "No login or link has this id." }),
  },
};

/** Who has access, for the owner alone: what `reprise tokens` shows and ends. */
export function accessListRoutes(app: Api, store: Store): void {
  app.route({
    method: "GET",
    url: "/api/access",
    schema: listSchema,
    config: { needs: "own" },
    handler: () => store.read(listAccess, null),
  });
  app.route({
    method: "DELETE",
    url: "/api/access/:id",
    schema: revokeSchema,
    preValidation: refuseBody,
    handler: async ({ params: { id } }, reply) => {
      if (!isUuid(id)) {
        throw noAccess();
      }
      await store.write(revokeAccess, { id: id.toLowerCase() });
      return reply.code(204).send(null);
    },
  });
}
