import { sessionSummary } from "../../core/answers.ts";
import { CreateSessionRequest, named, NoQuery, SessionSummary } from "../../core/schemas.ts";
import { projectKeyOf } from "../../store/project-key.ts";
import { createSession } from "../../store/sessions/create.ts";
import { createSessionOnce } from "../../store/sessions/create-once.ts";
import { type Api, BODY_PROBLEMS, IdempotencyKey, type SessionService } from "./api.ts";
import { emptyBodyAsObject } from "../guards/json-body.ts";
import { json, problems } from "../responses.ts";

const schema = {
  operationId: "createSession",
  summary: "Creates a session without messages",
  description: "Every field is optional, and so is the body.",
  querystring: NoQuery,
  headers: IdempotencyKey,
  body: named(CreateSessionRequest),
  response: {
    201: json(named(SessionSummary), {
      description: "The session, created by this request or an earlier one with the same key.",
      headers: { Location: { type: "string", description: "The path of the session." } },
    }),
    ...problems(BODY_PROBLEMS),
  },
};

export function createSessionRoute(app: Api, { store, caller, publicPath }: SessionService): void {
  app.route({
    method: "POST",
    url: "/api/sessions",
    schema,
    preValidation: emptyBodyAsObject,
    handler: async (request, reply) => {
      const { persona_name, model_override, repo_path } = request.body;
      const key = request.headers["idempotency-key"];
      const columns = {
        persona_name: persona_name ?? null,
        model: model_override ?? null,
        repo_path: repo_path ?? null,
        project_key: typeof repo_path === "string" ? await projectKeyOf(repo_path) : null,
        caller,
      };
      const session = await (key === undefined
        ? store.write(createSession, columns)
        : store.write(createSessionOnce, { ...columns, create_key: key }));
      reply.code(201).header("location", publicPath(request, `/api/sessions/${session.id}`));
      return sessionSummary(session);
    },
  });
}
