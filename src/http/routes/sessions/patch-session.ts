import { restartsCache } from "../../../core/model-settings.ts";
import { PatchSessionRequest } from "../../../core/schemas/patch-session.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { named, SessionSummary } from "../../../core/schemas/schemas.ts";
import { type FolderWarning, folderWarning } from "../../../exchange/folder-warning.ts";
import { runnableOn } from "../../../exchange/runnable.ts";
import { readNodeChoices } from "../../../store/records/exchanges/nodes.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { patchRequested } from "../../../store/requests.ts";
import { emptyBodyAsObject } from "../../guards/json-body.ts";
import { json, problems } from "../../responses.ts";
import {
  type Api,
  BODY_PROBLEMS,
  FolderWarningHeader,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
  WARNING_HEADER,
} from "../api.ts";

const CACHE_WARNING = "cache_restarts";

const WarningHeader = {
  [WARNING_HEADER]: {
    type: "string",
    description: `${FolderWarningHeader[WARNING_HEADER].description} Or \`cache_restarts\`: another effort or cache, so that the provider reads the conversation once more.`,
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
    200: json(named(SessionSummary), { description: "The session.", headers: WarningHeader }),
    ...problems({
      ...SESSION_PROBLEMS,
      ...BODY_PROBLEMS,
      403: "`token_required`: the request has no token.",
      409: "`session_ended`, `session_busy` (an exchange runs, or waits for an answer and `context` is `keep` or `repo_path` is another folder, or is queued then), or `ambiguous_id`.",
    }),
  },
};

export function patchSessionRoute(
  app: Api,
  { store, checkPrice, folders: own }: SessionService,
): void {
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
      const isReadAgain = before !== null && restartsCache(before, change);
      const folder =
        change.repo_path === undefined ? null : await warningOf(session, { store, own });
      const warning = folder ?? (isReadAgain ? CACHE_WARNING : null);
      if (warning !== null) {
        reply.header(WARNING_HEADER, warning);
      }
      return session;
    },
  });
}

/** Reason for which the exchanges of a session would not run in its folder; null for none. */
async function warningOf(
  { repo_path, agent, last_seq }: SessionSummary,
  { store, own }: Pick<SessionService, "store"> & { readonly own: SessionService["folders"] },
): Promise<FolderWarning | null> {
  const nodes = await store.read(readNodeChoices, null);
  const session = { repo_path, agent, has_begun: last_seq > 0, nodes };
  const { runnable } = await runnableOn(session, { besides: true });
  return folderWarning({ repo_path, runnable, own });
}
