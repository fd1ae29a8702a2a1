import type { PhasePlan } from "../../../artifacts/plans/phase-plan.ts";
import { RepriseError } from "../../../core/errors.ts";
import { invalidRequest } from "../../../core/invalid-request.ts";
import { MAX_FAULTS } from "../../../core/limits.ts";
import type { Principal } from "../../../core/principal.ts";
import type { CreatePlanRunRequest } from "../../../core/schemas/plan-run-schemas.ts";
import { plural } from "../../../core/text/text.ts";
import { approvalKeys } from "../../../plans/approvals.ts";
import { checkRoles } from "../../../plans/roles.ts";
import type { Catalogue } from "../../../rules/catalogue.ts";
import { defaultModel } from "../../../rules/models/config.ts";
import { projectKeyOf } from "../../../store/project-key.ts";
import type { CreateRun } from "../../../store/records/plans/create-run.ts";
import { ARTIFACT_LIMITS, refuseLarge, type Schemas } from "../artifacts/artifact-text.ts";

interface Asked {
  readonly body: CreatePlanRunRequest;
  readonly principal: Principal;
}

interface Checks {
  readonly schemas: Schemas;
  /** Null for a service that runs an agent of others: it names no personas. */
  readonly catalogue: Catalogue | undefined;
}

/**
 * Checks a request for a run, before anything is stored. Error codes: `body_too_large`, `plan_invalid` with the findings,
 * `invalid_usage` for a key that is none of the plan, and as `checkRoles`.
 */
export async function requestedRun(
  { body, principal }: Asked,
  { schemas, catalogue }: Checks,
): Promise<CreateRun> {
  const { repo_path, parallel = 1, retries = 0, permission, again = false } = body;
  const { token_limits, price_limits } = body;
  const plan = await planIn(body, schemas);
  const approve = approvalKeys(plan.phases, body.approve ?? []);
  const model = await modelOf(plan, body, catalogue);
  return {
    session: {
      repo_path,
      project_key: await projectKeyOf(repo_path),
      model,
      principal,
      ...(permission === undefined ? {} : { permission }),
      ...(token_limits === undefined ? {} : { token_limits }),
      ...(price_limits === undefined ? {} : { price_limits }),
    },
    run_id: plan.runId,
    plan: JSON.stringify(plan),
    keys: plan.phases.map(({ key }) => key),
    path: null,
    checks: null,
    options: { parallel, retries, approve },
    request: `Run the plan ${plan.runId}: ${plural(plan.phases.length, "phase")}.`,
    again,
  };
}

/** Error codes: `body_too_large`, `plan_invalid`. */
async function planIn({ plan: given }: CreatePlanRunRequest, schemas: Schemas): Promise<PhasePlan> {
  const { text, syntax = "json" } = given;
  refuseLarge(text, syntax);
  const registry = await schemas();
  const { validatePlan } = await import("../../../artifacts/plans/validate-plan.ts");
  const schema = await registry.phasePlan();
  const known = { schemas: registry.ids };
  const { plan, findings } = validatePlan(text, { syntax, limits: ARTIFACT_LIMITS, schema, known });
  if (plan === null) {
    const faults = findings
      .filter(({ severity }) => severity === "error")
      .slice(0, MAX_FAULTS)
      .map(({ pointer, line, column, message }) => ({
        pointer,
        message: `Line ${line}, column ${column}: ${message}`,
      }));
    throw new RepriseError(
      "plan_invalid",
      "This is not a valid phase plan. `POST /api/artifacts/plan` lists all findings.",
      { faults },
    );
  }
  return plan;
}

/** Error codes: as `checkRoles`; `invalid_request` if nothing names a model. */
async function modelOf(
  plan: PhasePlan,
  { repo_path, model: asked }: CreatePlanRunRequest,
  catalogue: Catalogue | undefined,
): Promise<string> {
  const source = await catalogue?.sourceOf(repo_path);
  const model = asked ?? (source === undefined ? undefined : defaultModel(source.models));
  if (model === undefined) {
    throw invalidRequest([
      { pointer: "/model", message: "Must be given: this service names no models." },
    ]);
  }
  if (source !== undefined) {
    await checkRoles(plan, { ...source, repo_path, model });
  }
  return model;
}
