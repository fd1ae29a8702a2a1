import { Type } from "typebox";

import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { DeletedSession, named } from "../../../core/schemas/schemas.ts";
import { deletedSession } from "../../../store/records/sessions/delete-tree.ts";
import { deleteRequested } from "../../../store/requests.ts";
import { refuseBody } from "../../guards/json-body.ts";
import { json, problems } from "../../responses.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";

const schema = {
  operationId: "deleteSession",
  summary: "Deletes a session with its messages, threads and sub-agents",
  description:
    "For good. Queued exchanges and open questions are deleted too. Streams of the session end.",
  params: SessionParams,
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(DeletedSession)), {
      description: "What was deleted, each session after its parent.",
    }),
    ...problems({
      ...SESSION_PROBLEMS,
      403: "`token_required`: the request has no token.",
      409: "`session_busy`: an exchange runs in it or in one of its sub-agents; or `ambiguous_id`.",
    }),
  },
};

export function deleteSessionRoute(app: Api, { store, ...keeps }: SessionService): void {
  app.route({
    method: "DELETE",
    url: "/api/sessions/:id",
    schema,
    preValidation: refuseBody,
    handler: async ({ params }) => {
      const deleted = await store.write(deleteRequested, { reference: params.id });
      const { forgetSessions } = await import("../../../exchange/undo/forget-sessions.ts");
      await forgetSessions(keeps, deleted);
      return deleted.map(deletedSession);
    },
  });
}
