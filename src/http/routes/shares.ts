import { Type } from "typebox";

import { SHARE_DAYS, sharePath } from "../../core/access.ts";
import { CreateShareRequest, NewShareInfo, ShareInfo } from "../../core/schemas/access-schemas.ts";
import { isUuid } from "../../core/ids.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import { named } from "../../core/schemas/schemas.ts";
import { hashOf, newSecret } from "../../store/records/access/secrets.ts";
import {
  addShare,
  listShares,
  revokeShare,
  shareNotFound,
} from "../../store/records/access/shares.ts";
import { emptyBodyAsObject, refuseBody } from "../guards/json-body.ts";
import { json, problems, REQUEST_ID } from "../responses.ts";
import {
  type Api,
  BODY_PROBLEMS,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
} from "./api.ts";

const OWN_PROBLEMS = { ...SESSION_PROBLEMS, 403: "`token_required`: the request has no token." };

const createSchema = {
  operationId: "createShare",
  summary: "Makes a link that shows one session without a token",
  description:
    "It shows the session's messages while it is valid, without its folder, persona, metadata and sub-agents. The secret is shown only in this answer.",
  params: SessionParams,
  querystring: NoQuery,
  body: named(CreateShareRequest),
  response: {
    201: json(named(NewShareInfo), { description: "The link." }),
    ...problems({ ...OWN_PROBLEMS, ...BODY_PROBLEMS }),
  },
};

const listSchema = {
  operationId: "listShares",
  summary: "Lists the links that show a session",
  description: "Those that are valid now, the oldest first, without their secrets.",
  params: SessionParams,
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(ShareInfo)), { description: "The links." }),
    ...problems(OWN_PROBLEMS),
  },
};

const revokeSchema = {
  operationId: "revokeShare",
  summary: "Ends a link that shows a session",
  description: "Who has opened it sees nothing more.",
  params: Type.Object({
    ...SessionParams.properties,
    share: Type.String({ description: "The link's id." }),
  }),
  querystring: NoQuery,
  response: {
    204: { type: "null", description: "Done.", headers: { "X-Request-Id": REQUEST_ID } },
    ...problems({ ...OWN_PROBLEMS, 404: "The session or the link does not exist." }),
  },
};

export function shareRoutes(app: Api, { store, publicPath }: SessionService): void {
  const url = "/api/sessions/:id/shares";
  app.route({
    method: "POST",
    url,
    schema: createSchema,
    preValidation: emptyBodyAsObject,
    handler: async (request, reply) => {
      const secret = newSecret();
      const { id, session_id, expires_at } = await store.write(addShare, {
        reference: request.params.id,
        hash: hashOf(secret),
        days: request.body.expires_in_days ?? SHARE_DAYS,
      });
      const path = publicPath(request, sharePath(session_id, secret));
      return reply.code(201).send({ id, secret, expires_at, path });
    },
  });
  app.route({
    method: "GET",
    url,
    schema: listSchema,
    config: { needs: "own" },
    handler: ({ params }) => store.read(listShares, { reference: params.id }),
  });
  app.route({
    method: "DELETE",
    url: `${url}/:share`,
    schema: revokeSchema,
    preValidation: refuseBody,
    handler: async ({ params }, reply) => {
      if (!isUuid(params.share)) {
        throw shareNotFound();
      }
      await store.write(revokeShare, { reference: params.id, share: params.share });
      return reply.code(204).send(null);
    },
  });
}
