import { type Static, Type } from "typebox";

import type { AccessRole } from "../../core/principal.ts";
import type { Usage } from "../../core/cost/model-calls.ts";
import { costOf } from "../../core/cost/cost-fields.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { DEFAULT_LIST_LIMIT, MAX_BODY_BYTES, MAX_CONTENT_BYTES } from "../../core/limits.ts";
import { ExchangesQuery, NoQuery } from "../../core/schemas/query-schemas.ts";
import {
  EndSessionRequest,
  ExchangeDetail,
  ExchangeInfo,
  ListedExchange,
  named,
  PostMessageRequest,
  QueuedExchangeInfo,
  QueueExchangeRequest,
} from "../../core/schemas/schemas.ts";
import {
  changeQueued,
  type QueuedChange,
  stopExchange,
  withdrawQueued,
} from "../../store/records/exchanges/change.ts";
import { folderWarning } from "../../exchange/folder-warning.ts";
import { runnableOn } from "../../exchange/runnable.ts";
import {
  listExchangesWithUsage,
  readExchangeWithContent,
} from "../../store/records/exchanges/read.ts";
import { queueRequested, refuseLong } from "../../store/requests.ts";
import { emptyBodyAsObject, refuseBody } from "../guards/json-body.ts";
import { json, problems } from "../responses.ts";
import { recordFor } from "../shown-failure.ts";
import {
  type Api,
  exchangeReference,
  BODY_PROBLEMS,
  FolderWarningHeader,
  IdempotencyKey,
  IfMatch,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
  WARNING_HEADER,
} from "./api.ts";

const listSchema = {
  operationId: "listExchanges",
  summary: "Lists the exchanges of a session, the latest first",
  description:
    "An exchange is one question to the agent with all that it does until it answers. The next page is in the `Link` header.",
  params: SessionParams,
  querystring: ExchangesQuery,
  response: {
    200: json(Type.Array(named(ListedExchange)), {
      description: "One page of exchanges.",
      headers: {
        Link: {
          type: "string",
          description: 'The next page, as `<…>; rel="next"`, if there is one.',
        },
      },
    }),
    ...problems(SESSION_PROBLEMS),
  },
};

const queueSchema = {
  operationId: "queueExchange",
  summary: "Queues an exchange, which the next free node runs",
  description:
    "With `content`, the message is answered after the exchanges before it. Without, what was interrupted is continued, or pending messages are handed to the agent. With `not_before`, no node runs it earlier. With an `Idempotency-Key`, a request that is sent again queues nothing.",
  params: SessionParams,
  querystring: NoQuery,
  headers: IdempotencyKey,
  body: named(QueueExchangeRequest),
  response: {
    202: json(named(QueuedExchangeInfo), {
      description:
        "The exchange is queued, by this request or an earlier one with the same key. `runnable` is false if no node runs sessions of this folder and agent; `command` starts one.",
      headers: {
        Location: { type: "string", description: "The path of the exchange." },
        ...FolderWarningHeader,
      },
    }),
    ...problems({
      ...SESSION_PROBLEMS,
      ...BODY_PROBLEMS,
      403: "`token_required`: the request has no token.",
      409: "`session_ended`, `session_busy` (a sub-agent's session), `not_confirmed` (its model, persona or folder came without the token), `nothing_to_continue`, `question_open` (it waits for an answer), or `ambiguous_id`.",
    }),
  },
};

const oneExchange = Type.Object({
  ...SessionParams.properties,
  n: Type.String({ description: "The exchange's number." }),
});

const ONE_PROBLEMS = {
  ...SESSION_PROBLEMS,
  403: "`token_required`: the request has no token.",
  404: "The session or the exchange does not exist.",
} as const;

/** Problems of calls that change what is queued. */
const QUEUED_PROBLEMS = {
  ...ONE_PROBLEMS,
  409: "`exchange_begun`: it has begun or ended; or `ambiguous_id`.",
  412: "`exchange_changed`: it has another revision than `If-Match` says.",
} as const;

const stopSchema = {
  operationId: "stopExchange",
  summary: "Stops an exchange",
  description:
    "One that is queued, waits or was interrupted has ended with the answer. One that runs is asked to stop and keeps the text that had arrived.",
  params: oneExchange,
  querystring: NoQuery,
  body: named(EndSessionRequest),
  response: {
    200: json(named(ExchangeInfo), { description: "The exchange." }),
    ...problems({
      ...ONE_PROBLEMS,
      ...BODY_PROBLEMS,
      409: "`exchange_ended`: there is nothing to stop; or `ambiguous_id`.",
    }),
  },
};

const changeSchema = {
  operationId: "changeExchange",
  summary: "Changes the message of an exchange that has not begun",
  description: "With `If-Match`, only while the exchange has this revision.",
  params: oneExchange,
  querystring: NoQuery,
  headers: IfMatch,
  body: named(PostMessageRequest),
  response: {
    200: json(named(ExchangeInfo), { description: "The exchange." }),
    ...problems({ ...QUEUED_PROBLEMS, ...BODY_PROBLEMS }),
  },
};

const withdrawSchema = {
  operationId: "withdrawExchange",
  summary: "Withdraws an exchange that has not begun",
  description: "With `If-Match`, only while the exchange has this revision.",
  params: oneExchange,
  querystring: NoQuery,
  headers: IfMatch,
  response: {
    200: json(named(ExchangeInfo), { description: "The exchange, which is stopped." }),
    ...problems({ ...QUEUED_PROBLEMS, ...BODY_PROBLEMS }),
  },
};

const readSchema = {
  operationId: "getExchange",
  summary: "Returns one exchange of a session",
  description: "`content` is its message if it has not begun, also if it ended before it could.",
  params: oneExchange,
  querystring: NoQuery,
  response: {
    200: json(named(ExchangeDetail), { description: "The exchange." }),
    ...problems({ ...SESSION_PROBLEMS, 404: "The session or the exchange does not exist." }),
  },
};

export function exchangeRoutes(
  app: Api,
  { store, publicPath, folders: own, unsent, checkPrice }: SessionService,
): void {
  app.route({
    method: "POST",
    url: "/api/sessions/:id/exchanges",
    schema: queueSchema,
    bodyLimit: MAX_BODY_BYTES,
    preValidation: emptyBodyAsObject,
    handler: async (request, reply) => {
      const { record, open, nodes } = await queueRequested(
        store,
        { reference: request.params.id, ...request.body },
        {
          principal: request.principal,
          idempotencyKey: request.headers["idempotency-key"],
          checkPrice,
        },
      );
      const { session_id, n } = record;
      reply.header("location", publicPath(request, `/api/sessions/${session_id}/exchanges/${n}`));
      const runs = await runnableOn(nodes, { besides: true });
      const repo_path = nodes?.repo_path ?? null;
      const warning = await folderWarning({ repo_path, runnable: runs.runnable, own });
      if (warning !== null) {
        reply.header(WARNING_HEADER, warning);
      }
      reply.code(202);
      return {
        ...record,
        ...runs,
        open_question: open[0]?.id ?? null,
      };
    },
  });
  app.route({
    method: "POST",
    url: "/api/sessions/:id/exchanges/:n/stop",
    schema: stopSchema,
    preValidation: emptyBodyAsObject,
    handler: ({ params }) => store.write(stopExchange, exchangeReference(params)),
  });
  app.route({
    method: "PATCH",
    url: "/api/sessions/:id/exchanges/:n",
    schema: changeSchema,
    bodyLimit: MAX_BODY_BYTES,
    handler: async ({ params, headers, body }) => {
      refuseLong(body.content);
      const { content } = body;
      return store.write(changeQueued, { ...changeOf(params, headers), content });
    },
  });
  app.route({
    method: "DELETE",
    url: "/api/sessions/:id/exchanges/:n",
    schema: withdrawSchema,
    preValidation: refuseBody,
    handler: ({ params, headers }) => store.write(withdrawQueued, changeOf(params, headers)),
  });
  app.route({
    method: "GET",
    url: "/api/sessions/:id/exchanges",
    schema: listSchema,
    handler: async (request, reply) => {
      const { limit = DEFAULT_LIST_LIMIT, before_n } = request.query;
      const reference = request.params.id;
      if (limit > DEFAULT_LIST_LIMIT) {
        await unsent.enter({ request, reply }, MAX_CONTENT_BYTES);
      }
      const input = { reference, before_n, limit: limit + 1 };
      const found = await store.read(listExchangesWithUsage, input);
      const page = found.slice(0, limit);
      const last = page.at(-1)?.record;
      if (found.length > limit && last !== undefined) {
        const query = new URLSearchParams({ limit: String(limit), before_n: String(last.n) });
        const path = publicPath(request, `/api/sessions/${last.session_id}/exchanges`);
        reply.header("link", `<${path}?${query.toString()}>; rel="next"`);
      }
      return page.map((each) => shown(request.principal.role, each));
    },
  });
  app.route({
    method: "GET",
    url: "/api/sessions/:id/exchanges/:n",
    schema: readSchema,
    handler: async ({ params, principal }) =>
      shown(principal.role, await store.read(readExchangeWithContent, exchangeReference(params))),
  });
}

function shown<Shown extends ExchangeRecord>(
  role: AccessRole,
  { record, usage }: { readonly record: Shown; readonly usage: Usage },
) {
  return { ...recordFor(role, record), ...costOf(usage) };
}

function changeOf(
  params: Parameters<typeof exchangeReference>[0],
  { "if-match": revision }: Static<typeof IfMatch>,
): QueuedChange {
  const known = revision === undefined ? undefined : Number(revision.replaceAll('"', ""));
  return { ...exchangeReference(params), revision: known };
}
