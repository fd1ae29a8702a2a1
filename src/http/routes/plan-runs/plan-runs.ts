import { Type } from "typebox";

import { DEFAULT_LIST_LIMIT, MAX_BODY_BYTES } from "../../../core/limits.ts";
import {
  CreatePlanRunRequest,
  PlanRunsQuery,
  ResumePlanRunRequest,
} from "../../../core/schemas/plan-run-requests.ts";
import { RunDetail, RunSummary } from "../../../core/schemas/plan-run-schemas.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { named } from "../../../core/schemas/schemas.ts";
import { folderWarning } from "../../../exchange/folder-warning.ts";
import { runnableOn } from "../../../exchange/runnable.ts";
import { markdownReport } from "../../../plans/markdown-report.ts";
import { readRunDetail, runSummary } from "../../../plans/run-detail.ts";
import { readSessionNodes } from "../../../store/records/exchanges/nodes.ts";
import { listRuns } from "../../../store/records/plans/list-runs.ts";
import { queueRun, resumeRun } from "../../../store/records/plans/queue-run.ts";
import { cursorOf, readCursor } from "../../../store/records/sessions/list-cursor.ts";
import { emptyBodyAsObject } from "../../guards/json-body.ts";
import { json, problems, REQUEST_ID } from "../../responses.ts";
import {
  type Api,
  BODY_PROBLEMS,
  FolderWarningHeader,
  IdempotencyKey,
  type SessionService,
  WARNING_HEADER,
} from "../api.ts";
import type { RunRequestSource } from "./requested-run.ts";
import { runFor } from "./run-for.ts";

/** Right to read: errors and paths of phases hold what files and commands do. */
const CLOSED = { needs: "read_private" } as const;
const MARKDOWN = "text/markdown; charset=utf-8";
const PATH = "/api/plan-runs";

const RunParams = Type.Object({
  id: Type.String({
    description:
      "The id of the run's session, its first 6 or more characters, or the plan's `runId`.",
  }),
});

const RUN_PROBLEMS = {
  403: "`token_required`: the request has no token.",
  404: "No run has this id.",
  409: "`ambiguous_id`: several sessions begin so; `candidates` lists them.",
} as const;

const createSchema = {
  operationId: "createPlanRun",
  summary: "Stores a run of a phase plan, which the next free node runs",
  description:
    "Each phase is a sub-agent of the run's session, with its role as the persona. With an `Idempotency-Key`, a request that is sent again finds the run of the first one.",
  querystring: NoQuery,
  headers: IdempotencyKey,
  body: named(CreatePlanRunRequest),
  response: {
    201: json(named(RunDetail), {
      description: "The run, stored by this request or an earlier one with the same key.",
      headers: {
        Location: { type: "string", description: "The path of the run." },
        ...FolderWarningHeader,
      },
    }),
    ...problems({
      ...BODY_PROBLEMS,
      403: RUN_PROBLEMS[403],
      404: "`schema_unknown`: the schema of an artifact is not known in the folder.",
      409: "`run_exists`: the project has a run of this plan.",
      422: "`plan_invalid`, with the findings in `faults`; `role_unknown`, `model_unknown`, `price_unknown`; `sandbox_missing`, `folder_not_trusted`, `folder_missing` or `invalid_usage` for its checks; or a field does not fit.",
    }),
  },
};

const listSchema = {
  operationId: "listPlanRuns",
  summary: "Lists the runs of plans, the newest first",
  description: "The next page is in the `Link` header.",
  querystring: PlanRunsQuery,
  response: {
    200: json(Type.Array(named(RunSummary)), {
      description: "One page of runs.",
      headers: {
        Link: {
          type: "string",
          description: 'The next page, as `<…>; rel="next"`, if there is one.',
        },
      },
    }),
    ...problems({ 403: RUN_PROBLEMS[403] }),
  },
};

const readSchema = {
  operationId: "getPlanRun",
  summary: "Returns a run with all that is known of its phases",
  description: "A `runId` finds the last run of the plan.",
  params: RunParams,
  querystring: NoQuery,
  response: {
    200: json(named(RunDetail), { description: "The run." }),
    ...problems(RUN_PROBLEMS),
  },
};

const resumeSchema = {
  operationId: "resumePlanRun",
  summary: "Continues a run after a stop, a kill, an answer or a failure",
  description:
    "The next free node runs it. With `retry`, phases that failed or were refused get another attempt first; `token_limits` replaces limits of the run, as for one that has reached them.",
  params: RunParams,
  querystring: NoQuery,
  body: named(ResumePlanRunRequest),
  response: {
    202: json(named(RunDetail), { description: "The run, which is queued." }),
    ...problems({
      ...RUN_PROBLEMS,
      ...BODY_PROBLEMS,
      409: "`nothing_to_continue`, `question_open`, `session_busy` (it runs), `session_ended`, or `ambiguous_id`.",
    }),
  },
};

const reportSchema = {
  operationId: "getPlanRunReport",
  summary: "Returns what a run did, as Markdown for a pull request",
  description: "As `reprise plan report`. `getPlanRun` has the same as JSON.",
  params: RunParams,
  querystring: NoQuery,
  response: {
    200: {
      description: "The report.",
      headers: { "X-Request-Id": REQUEST_ID },
      content: { [MARKDOWN]: { schema: { type: "string" } } },
    },
    ...problems(RUN_PROBLEMS),
  },
} as const;

export function planRunRoutes(app: Api, service: SessionService, source: RunRequestSource): void {
  const { store, publicPath, folders: own, unsent } = service;
  const detail = (reference: string) => store.read(readRunDetail, { reference });
  app.route({
    method: "POST",
    url: PATH,
    schema: createSchema,
    bodyLimit: MAX_BODY_BYTES,
    preHandler: unsent.inTurn,
    handler: async (request, reply) => {
      const { body, headers, principal } = request;
      const { requestedRun } = await import("./requested-run.ts");
      const run = await requestedRun({ body, principal }, source);
      const create_key = headers["idempotency-key"];
      const { id, repo_path } = await store.write(queueRun, {
        ...run,
        principal,
        asked_by: "http",
        create_key,
      });
      reply.code(201).header("location", publicPath(request, `${PATH}/${id}`));
      const nodes = await store.read(readSessionNodes, { session_id: id });
      const { runnable } = await runnableOn(nodes, { besides: true });
      const warning = await folderWarning({ repo_path, runnable, own });
      if (warning !== null) {
        reply.header(WARNING_HEADER, warning);
      }
      return detail(id);
    },
  });
  app.route({
    method: "GET",
    url: PATH,
    schema: listSchema,
    config: CLOSED,
    handler: async (request, reply) => {
      const { limit = DEFAULT_LIST_LIMIT, cursor, state } = request.query;
      const after = cursor === undefined ? undefined : readCursor(cursor, "created");
      const { runs, next } = await store.read(listRuns, { limit, state, after });
      if (next !== null) {
        const query = new URLSearchParams({ limit: String(limit) });
        if (state !== undefined) {
          query.set("state", state);
        }
        query.set("cursor", cursorOf(next, "created"));
        reply.header("link", `<${publicPath(request, PATH)}?${query.toString()}>; rel="next"`);
      }
      return runs.map(runSummary);
    },
  });
  app.route({
    method: "GET",
    url: `${PATH}/:id`,
    schema: readSchema,
    config: CLOSED,
    preHandler: unsent.inTurn,
    handler: async ({ params, principal }) => runFor(principal.role, await detail(params.id)),
  });
  app.route({
    method: "POST",
    url: `${PATH}/:id/resume`,
    schema: resumeSchema,
    bodyLimit: MAX_BODY_BYTES,
    preValidation: emptyBodyAsObject,
    handler: async ({ params, body, principal }, reply) => {
      const { retry = null, token_limits } = body;
      const reference = params.id;
      const asked = { reference, principal, asked_by: "http", retry, token_limits } as const;
      const { record } = await store.write(resumeRun, asked);
      reply.code(202);
      return detail(record.session_id);
    },
  });
  app.route({
    method: "GET",
    url: `${PATH}/:id/report`,
    schema: reportSchema,
    config: CLOSED,
    preHandler: unsent.inTurn,
    handler: async ({ params, principal }, reply) => {
      const run = runFor(principal.role, await detail(params.id));
      return reply.type(MARKDOWN).send(markdownReport(run));
    },
  });
}
