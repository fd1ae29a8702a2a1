import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { CreateSessionRequest, named, SessionSummary } from "../../../core/schemas/schemas.ts";
import { createRequested } from "../../../store/requests.ts";
import { folderWarning } from "../../../exchange/folder-warning.ts";
import { runnableOn } from "../../../exchange/runnable.ts";
import { readNodeChoices } from "../../../store/records/exchanges/nodes.ts";
import {
  type Api,
  BODY_PROBLEMS,
  FolderWarningHeader,
  IdempotencyKey,
  type SessionService,
  WARNING_HEADER,
} from "../api.ts";
import { emptyBodyAsObject } from "../../guards/json-body.ts";
import { requireToken } from "../../guards/needs.ts";
import { json, problems } from "../../responses.ts";

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
      headers: {
        Location: { type: "string", description: "The path of the session." },
        ...FolderWarningHeader,
      },
    }),
    ...problems({
      ...BODY_PROBLEMS,
      403: "`token_required`: without a token, `permission` can be `ask` and `plan` only, and `effort`, `cache` and `fallback` must be left out.",
    }),
  },
};

export function createSessionRoute(
  app: Api,
  { store, publicPath, folders: own, checkPrice }: SessionService,
): void {
  app.route({
    method: "POST",
    url: "/api/sessions",
    schema,
    config: { needs: "submit" },
    preValidation: emptyBodyAsObject,
    handler: async (request, reply) => {
      const { permission = "ask", effort = null, cache = null, fallback = null } = request.body;
      const chooses = [effort, cache, fallback].some((value) => value !== null);
      if ((permission !== "ask" && permission !== "plan") || chooses) {
        requireToken(request);
      }
      const idempotencyKey = request.headers["idempotency-key"];
      const { principal } = request;
      const { repo_path = null } = request.body;
      const nodes = repo_path === null ? [] : await store.read(readNodeChoices, null);
      const sender = { principal, idempotencyKey, checkPrice };
      const session = await createRequested(store, request.body, sender);
      reply.code(201).header("location", publicPath(request, `/api/sessions/${session.id}`));
      const asNew = { repo_path, agent: null, has_begun: false, nodes };
      const { runnable } = await runnableOn(asNew, { besides: true });
      const warning = await folderWarning({ repo_path, runnable, own });
      if (warning !== null) {
        reply.header(WARNING_HEADER, warning);
      }
      return session;
    },
  });
}
