import { type Static, Type } from "typebox";

import { EXCHANGE_STATES } from "../exchanges.ts";
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, MAX_NAME_LENGTH } from "../limits.ts";
import { PERMISSION_MODES } from "../permissions.ts";
import { MAX_PARALLEL, MAX_PHASE_KEYS, MAX_RETRIES } from "../plan-runs.ts";
import { DescribePlanRequest } from "./artifact-schemas.ts";
import { closed, oneOf } from "./field-schemas.ts";
import { PatchSessionRequest } from "./patch-session.ts";
import { ListQuery } from "./query-schemas.ts";
import { CreateSessionRequest, name, repoPath } from "./schemas.ts";

/** Requests about runs of plans. */

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
