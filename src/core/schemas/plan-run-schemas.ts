import { type Static, Type } from "typebox";

import { EXCHANGE_STATES } from "../exchanges.ts";
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, MAX_NAME_LENGTH } from "../limits.ts";
import { PERMISSION_MODES } from "../permissions.ts";
import { MAX_PARALLEL, MAX_PHASE_KEYS, MAX_RETRIES, type PlanChecks } from "../plan-runs.ts";
import { closed, nullable, oneOf } from "./field-schemas.ts";
import { DescribePlanRequest } from "./artifact-schemas.ts";
import { PatchSessionRequest } from "./patch-session.ts";
import { CreateSessionRequest, ExchangeInfo, name, named, repoPath } from "./schemas.ts";
import { ListQuery } from "./query-schemas.ts";
import { RunPhase } from "./run-phase-schemas.ts";

/** Runs of plans, in the HTTP API and on the command line. */

const uuid = () => Type.String({ format: "uuid" });
const count = () => Type.Integer({ minimum: 0 });
const keys = (description: string) =>
  Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { description }));

const summary = {
  session_id: uuid(),
  run_id: Type.String({ description: "The plan's `runId`." }),
  number: Type.Integer({
    minimum: 1,
    description: "How often the plan was begun in the project, this time included.",
  }),
  state: Type.Unsafe<(typeof EXCHANGE_STATES)[number]>({
    ...oneOf(EXCHANGE_STATES),
    description: "Of the run's last exchange; `queued` before the first one.",
  }),
  phases_done: count(),
  phases_total: count(),
  asking: keys("Keys of the phases that wait for a person."),
};

/** A run in a list. */
export const RunSummary = Type.Object(summary, { ...closed, $id: "RunSummary" });
export type RunSummary = Static<typeof RunSummary>;

/** A message in a run's session, which no model gets. */
const UnreadMessage = Type.Object(
  {
    seq: Type.Integer({ minimum: 1 }),
    ts: Type.String({ format: "date-time" }),
    content: Type.String({ description: "Its first 200 characters." }),
  },
  closed,
);

const artifact = Type.Object({ path: Type.String(), schema: Type.String() }, closed);

/** A valid phase plan. */
const Plan = Type.Object(
  {
    runId: Type.String(),
    phaseKey: Type.String(),
    phases: Type.Unsafe<readonly PlanPhase[]>(
      Type.Array(
        Type.Object(
          {
            key: Type.String(),
            title: Type.String(),
            role: Type.String(),
            instructions: Type.String(),
            expected_artifact: Type.Optional(artifact),
            depends_on: Type.Optional(Type.Array(Type.String())),
          },
          closed,
        ),
      ),
    ),
    estimated_duration_hours: Type.Optional(Type.Number({ minimum: 0 })),
  },
  closed,
);

interface PlanPhase {
  readonly key: string;
  readonly title: string;
  readonly role: string;
  readonly instructions: string;
  readonly expected_artifact?: { readonly path: string; readonly schema: string };
  readonly depends_on?: readonly string[];
}

const commands = Type.Array(Type.Array(Type.String()));

/** Commands that decide whether phases are done. */
const Checks = Type.Object(
  {
    phases: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ setup: Type.Optional(commands), checks: commands }, closed),
      ),
    ),
    all: Type.Optional(commands),
  },
  closed,
);

const ChecksConsent = Type.Object(
  {
    who: Type.String({ description: "`user@host`, or `token`." }),
    at: Type.String({ format: "date-time" }),
  },
  closed,
);

const options = {
  parallel: Type.Integer({ minimum: 1, maximum: MAX_PARALLEL }),
  retries: Type.Integer({ minimum: 0, maximum: MAX_RETRIES }),
  approve: keys("Keys of the phases that a person has to approve."),
};

/** A run with all that is known of it. */
export const RunDetail = Type.Object(
  {
    ...summary,
    path: nullable(Type.String({ description: "Where the plan was read; only shown." })),
    plan: Plan,
    checks: Type.Unsafe<PlanChecks | null>(
      Type.Union([Checks, Type.Null()], { description: "`reprise/plan-checks@1`" }),
    ),
    checks_consent: Type.Unsafe<Static<typeof ChecksConsent> | null>(
      Type.Union([ChecksConsent, Type.Null()], {
        description: "Who let the checks be run in this database; null for nobody that is known.",
      }),
    ),
    options: Type.Object(options, closed),
    exchange: Type.Unsafe<ExchangeInfo | null>(Type.Union([named(ExchangeInfo), Type.Null()])),
    phases: Type.Array(named(RunPhase), { description: "In the order of the plan." }),
    unread: Type.Array(UnreadMessage, {
      description: "Messages in the run's session, which no model gets; the latest 20.",
    }),
  },
  { ...closed, $id: "RunDetail" },
);
export type RunDetail = Static<typeof RunDetail>;

const { token_limits, price_limits } = CreateSessionRequest.properties;
const PHASE_MODES = PERMISSION_MODES.filter((mode) => mode !== "plan");
const phaseKeys = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), {
    maxItems: MAX_PHASE_KEYS,
    description,
  });

export const CreatePlanRunRequest = Type.Object(
  {
    plan: DescribePlanRequest,
    repo_path: repoPath(),
    checks: Type.Optional(
      Type.Object(DescribePlanRequest.properties, {
        ...closed,
        description: "commands that decide whether phases are done: `reprise/plan-checks@1`",
      }),
    ),
    only: Type.Optional(
      phaseKeys("keys of the phases to run, with those that they depend on; none for all"),
    ),
    parallel: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PARALLEL })),
    retries: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_RETRIES })),
    approve: Type.Optional(
      phaseKeys("keys of phases that a person has to approve, or `all` for each of them"),
    ),
    model: Type.Optional(name()),
    permission: Type.Optional(oneOf(PHASE_MODES)),
    token_limits,
    price_limits,
    again: Type.Optional(
      Type.Boolean({ description: "true to run a plan once more that has ended" }),
    ),
  },
  { ...closed, $id: "CreatePlanRunRequest" },
);
export type CreatePlanRunRequest = Static<typeof CreatePlanRunRequest>;

export const ResumePlanRunRequest = Type.Object(
  {
    retry: Type.Optional(
      phaseKeys("keys of phases that failed or were refused, to try again; none for all of them"),
    ),
    token_limits: PatchSessionRequest.properties.token_limits,
  },
  { ...closed, $id: "ResumePlanRunRequest" },
);
export type ResumePlanRunRequest = Static<typeof ResumePlanRunRequest>;

export const PlanRunsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }),
    ),
    cursor: ListQuery.properties.cursor,
    state: Type.Optional(oneOf(EXCHANGE_STATES)),
  },
  closed,
);
