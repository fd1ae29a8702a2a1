import { type ArtifactReport, toReport } from "../../../artifacts/finding.ts";
import type { PhasePlan } from "../../../artifacts/plans/phase-plan.ts";
import { PLAN_CHECKS } from "../../../artifacts/registry.ts";
import { RepriseError } from "../../../core/errors.ts";
import { invalidRequest } from "../../../core/invalid-request.ts";
import { MAX_FAULTS } from "../../../core/limits.ts";
import type { PlanChecks } from "../../../core/plan-runs.ts";
import type { Principal } from "../../../core/principal.ts";
import { exactLine } from "../../../core/text/terminal-text.ts";
import type { CreatePlanRunRequest } from "../../../core/schemas/plan-run-requests.ts";
import { refuseAsking, refuseDenied } from "../../../plans/check-consent.ts";
import type { StartSource } from "../../../plans/check-start.ts";
import { prepareRun } from "../../../plans/new-run.ts";
import { onlyPhases } from "../../../plans/only-phases.ts";
import type { Catalogue } from "../../../rules/catalogue.ts";
import { defaultModel } from "../../../rules/models/config.ts";
import { projectOfFolder } from "../../../store/project-id.ts";
import type { CreateRun } from "../../../store/records/plans/create-run.ts";
import { ARTIFACT_LIMITS, refuseLarge, type Schemas } from "../artifacts/artifact-text.ts";

interface Asked {
  readonly body: CreatePlanRunRequest;
  readonly principal: Principal;
}

/** Parts with which a request for a run is checked. */
export interface RunRequestSource {
  readonly schemas: Schemas;
  /** Undefined for a service that runs an agent of others: it names no personas. */
  readonly catalogue: Catalogue | undefined;
  /** Undefined for a service that cannot judge artifacts and checks. */
  readonly runStart: StartSource | undefined;
}

/**
 * Checks a request for a run, before anything is stored. Error codes: `body_too_large`, `plan_invalid` with the findings,
 * `invalid_usage` for checks that nobody permits, and as `prepareRun`.
 */
export async function requestedRun(
  { body, principal }: Asked,
  { schemas, catalogue, runStart }: RunRequestSource,
): Promise<CreateRun> {
  const { repo_path, parallel = 1, retries = 0, approve = [], permission } = body;
  const { token_limits, price_limits, only = [], again = false } = body;
  const plan = await planIn(body, schemas);
  refuseUnknown("/only", only, plan);
  // a phase may have the key `all`
  refuseUnknown("/approve", approve, onlyPhases(plan, only), ["all"]);
  const roles = (await catalogue?.sourceOf(repo_path)) ?? null;
  const model = body.model ?? (roles === null ? undefined : defaultModel(roles.models));
  if (model === undefined) {
    throw invalidRequest([
      { pointer: "/model", message: "Must be given: this service names no models." },
    ]);
  }
  const { run, judged } = await prepareRun(
    {
      plan,
      checks: await checksIn(body, plan, schemas),
      only,
      options: { parallel, retries, approve },
      session: {
        repo_path,
        ...(await projectOfFolder(repo_path)),
        model,
        principal,
        ...(permission === undefined ? {} : { permission }),
        ...(token_limits === undefined ? {} : { token_limits }),
        ...(price_limits === undefined ? {} : { price_limits }),
      },
      path: null,
      again,
    },
    { roles, start: runStart ?? null },
  );
  refuseDenied(judged);
  refuseAsking(
    judged,
    (rule) =>
      `${rule === null ? "Send" : `Allow ${rule} in the service's config, or send`} \`permission\` as \`auto\`.`,
  );
  return run;
}

/** Names keys that the plan lacks by their places: an error repeats nothing of its request. Error codes: `invalid_request`. */
function refuseUnknown(
  pointer: string,
  given: readonly string[],
  { phases }: PhasePlan,
  others: readonly string[] = [],
): void {
  const keys = new Set([...others, ...phases.map(({ key }) => key)]);
  const unknown = [...given.entries()].filter(([, key]) => !keys.has(key)).slice(0, MAX_FAULTS);
  if (unknown.length > 0) {
    throw invalidRequest(
      unknown.map(([at]) => ({
        pointer: `${pointer}/${at}`,
        message: "Must be the key of a phase that is run.",
      })),
    );
  }
}

/** Error codes: `body_too_large`, `plan_invalid`. */
async function planIn({ plan: given }: CreatePlanRunRequest, schemas: Schemas): Promise<PhasePlan> {
  const { text, syntax = "json" } = given;
  refuseLarge(text, syntax);
  const registry = await schemas();
  const { validatePlan } = await import("../../../artifacts/plans/validate-plan.ts");
  const schema = await registry.phasePlan();
  const known = { schemas: registry.ids };
  const { plan, ...report } = validatePlan(text, {
    syntax,
    limits: ARTIFACT_LIMITS,
    schema,
    known,
  });
  if (plan === null) {
    throw invalid(
      report,
      "This is not a valid phase plan. `POST /api/artifacts/plan` lists all findings.",
    );
  }
  return plan;
}

/** Null for a request without checks. Error codes: `body_too_large`, `plan_invalid`. */
async function checksIn(
  { checks: given }: CreatePlanRunRequest,
  { phases }: PhasePlan,
  schemas: Schemas,
): Promise<PlanChecks | null> {
  if (given === undefined) {
    return null;
  }
  const { text, syntax = "json" } = given;
  refuseLarge(text, syntax);
  const { validateChecks } = await import("../../../artifacts/plans/plan-checks.ts");
  const schema = await (await schemas()).schema(PLAN_CHECKS);
  const artifact = { text, syntax, limits: ARTIFACT_LIMITS };
  const keys = phases.map(({ key }) => key);
  const { checks, ...report } =
    schema === null
      ? { ...toReport([]), checks: null }
      : await validateChecks(artifact, { schema, keys });
  if (checks === null) {
    throw invalid(
      report,
      "These are not valid checks of the plan. `reprise schema reprise/plan-checks@1` prints their schema.",
    );
  }
  return checks;
}

function invalid({ findings }: Pick<ArtifactReport, "findings">, message: string): RepriseError {
  const faults = findings
    .filter(({ severity }) => severity === "error")
    .slice(0, MAX_FAULTS)
    .map(({ pointer, line, column, message: fault }) => ({
      pointer: exactLine(pointer),
      message: `Line ${line}, column ${column}: ${fault}`,
    }));
  return new RepriseError("plan_invalid", message, { faults });
}
