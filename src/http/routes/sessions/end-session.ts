import { sessionAck } from "../../../core/schemas/answers.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { EndSessionRequest, named, SessionAck } from "../../../core/schemas/schemas.ts";
import { endRequested } from "../../../store/requests.ts";
import {
  type Api,
  BODY_PROBLEMS,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
} from "../api.ts";
import { emptyBodyAsObject } from "../../guards/json-body.ts";
import { json, problems } from "../../responses.ts";

const schema = {
  operationId: "endSession",
  summary: "Ends a session; ending it again changes nothing",
  description:
    "An ended session can be read, but takes no more messages. Streams of it send what is left and end.",
  params: SessionParams,
  querystring: NoQuery,
  body: named(EndSessionRequest),
  response: {
    200: json(named(SessionAck), { description: "The session has ended." }),
    ...problems({ ...SESSION_PROBLEMS, ...BODY_PROBLEMS }),
  },
};

export function endSessionRoute(app: Api, { store }: SessionService): void {
  app.route({
    method: "POST",
    url: "/api/sessions/:id/end",
    schema,
    config: { needs: "submit" },
    preValidation: emptyBodyAsObject,
    handler: async (request) => {
      const session = await store.write(endRequested, { reference: request.params.id });
      return sessionAck(session, session.last_seq);
    },
  });
}
