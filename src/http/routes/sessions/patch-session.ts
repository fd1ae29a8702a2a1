import { restartsCache } from "../../../core/model-settings.ts";
import { PatchSessionRequest } from "../../../core/schemas/patch-session.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { named, SessionSummary } from "../../../core/schemas/schemas.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { patchRequested } from "../../../store/requests.ts";
import { emptyBodyAsObject } from "../../guards/json-body.ts";
import { json, problems } from "../../responses.ts";
import {
  type Api,
  BODY_PROBLEMS,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
  WARNING_HEADER,
} from "../api.ts";

const CACHE_WARNING = "cache_restarts";

const CacheWarningHeader = {
  [WARNING_HEADER]: {
    type: "string",
    description:
      "`cache_restarts`: another effort or cache, so that the provider reads the conversation once more.",
  },
} as const;

const schema = {
  operationId: "patchSession",
  summary: "Changes a session: what is left out stays",
  description:
    'Null removes a name, a limit or a pair of metadata. Another model or persona begins a fresh thread of the agent; with `context: "keep"` another model continues the thread. Another folder moves the session with its sub-agents, as `reprise sessions move` does: no file is moved, what was allowed counts no more, and an exchange of one of them that runs, waits or is queued refuses it. Name, metadata, `archived` and `pinned` can be changed at any time, also in an ended session; an exchange that runs refuses the rest but limits and `permission`, which counts from its next call of a tool.',
  params: SessionParams,
  querystring: NoQuery,
  body: named(PatchSessionRequest),
  response: {
    200: json(named(SessionSummary), { description: "The session.", headers: CacheWarningHeader }),
    ...problems({
      ...SESSION_PROBLEMS,
      ...BODY_PROBLEMS,
      403: "`token_required`: the request has no token.",
      409: "`session_ended`, `session_busy` (an exchange runs, or waits for an answer and `context` is `keep` or `repo_path` is another folder, or is queued then), or `ambiguous_id`.",
    }),
  },
};

export function patchSessionRoute(app: Api, { store, checkPrice }: SessionService): void {
  app.route({
    method: "PATCH",
    url: "/api/sessions/:id",
    schema,
    preValidation: emptyBodyAsObject,
    handler: async (request, reply) => {
      const { params, body: change, principal } = request;
      const mayRestart = change.effort !== undefined || change.cache !== undefined;
      const before = mayRestart ? await store.read(resolveSession, { reference: params.id }) : null;
      const session = await patchRequested(store, params.id, { change, principal, checkPrice });
      if (before !== null && restartsCache(before, change)) {
        reply.header(WARNING_HEADER, CACHE_WARNING);
      }
      return session;
    },
  });
}
