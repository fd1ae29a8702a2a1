import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { ForkSessionRequest, named, SessionSummary } from "../../../core/schemas/schemas.ts";
import { forkRequested } from "../../../store/checkpoints/forks/fork-requested.ts";
import {
  type Api,
  BODY_PROBLEMS,
  IdempotencyKey,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
} from "../api.ts";
import { emptyBodyAsObject } from "../../guards/json-body.ts";
import { json, problems } from "../../responses.ts";

const schema = {
  operationId: "forkSession",
  summary: "Makes a session that continues from a message of another one",
  description:
    "At the end of an exchange: the nearest one before `at_seq`, which `forked_from` names. The body is optional.",
  params: SessionParams,
  querystring: NoQuery,
  headers: IdempotencyKey,
  body: named(ForkSessionRequest),
  response: {
    201: json(named(SessionSummary), {
      description: "The fork, created by this request or an earlier one with the same key.",
      headers: { Location: { type: "string", description: "The path of the fork." } },
    }),
    ...problems({
      ...BODY_PROBLEMS,
      ...SESSION_PROBLEMS,
      409: "`ambiguous_id`; `run_takes_no_message` for the session of a run.",
    }),
  },
};

export function forkSessionRoute(app: Api, { store, publicPath }: SessionService): void {
  app.route({
    method: "POST",
    url: "/api/sessions/:id/fork",
    schema,
    config: { needs: "submit" },
    preValidation: emptyBodyAsObject,
    handler: async (request, reply) => {
      const session = await store.write(forkRequested, {
        reference: request.params.id,
        at_seq: request.body.at_seq,
        principal: request.principal,
        create_key: request.headers["idempotency-key"],
      });
      reply.code(201).header("location", publicPath(request, `/api/sessions/${session.id}`));
      return session;
    },
  });
}
