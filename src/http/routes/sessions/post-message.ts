import { MAX_BODY_BYTES } from "../../../core/limits.ts";
import { sessionAck } from "../../../core/schemas/answers.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { named, PostMessageRequest, SessionAck } from "../../../core/schemas/schemas.ts";
import { appendRequested } from "../../../store/requests.ts";
import {
  type Api,
  IdempotencyKey,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
} from "../api.ts";
import { json, problems } from "../../responses.ts";

const schema = {
  operationId: "postMessage",
  summary: "Appends a user message; it is stored durably before the answer. The agent is not run",
  description:
    "The message is pending until the next exchange gives it to the agent. With an `Idempotency-Key`, a request that is sent again stores nothing.",
  params: SessionParams,
  querystring: NoQuery,
  headers: IdempotencyKey,
  body: named(PostMessageRequest),
  response: {
    201: json(named(SessionAck), {
      description: "The message is stored, by this request or an earlier one with the same key.",
    }),
    ...problems({
      ...SESSION_PROBLEMS,
      409: "`session_ended`, or `ambiguous_id` with `candidates`.",
      413: "The content is more than 1 MiB of UTF-8.",
      415: "The body is not JSON.",
    }),
  },
};

export function postMessageRoute(app: Api, { store, observe }: SessionService): void {
  app.route({
    method: "POST",
    url: "/api/sessions/:id/messages",
    schema,
    config: { needs: "submit" },
    bodyLimit: MAX_BODY_BYTES,
    handler: async (request, reply) => {
      const { content } = request.body;
      const { session, message } = await appendRequested(
        store,
        { reference: request.params.id, content },
        { principal: request.principal, idempotencyKey: request.headers["idempotency-key"] },
      );
      observe({ kind: "append", bytes: Buffer.byteLength(content) });
      reply.code(201);
      return sessionAck(session, message.seq);
    },
  });
}
