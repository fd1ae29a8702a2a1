import type { PhasePlan } from "../artifacts/plans/phase-plan.ts";
import { RepriseError } from "../core/errors.ts";
import { MAX_PHASE_KEY, type PlanChecks, type RunOptions } from "../core/plan-runs.ts";
import { storableText } from "../core/text/text.ts";
import type { CreateRun } from "../store/records/plans/create-run.ts";
import { approvalKeys } from "./approvals.ts";
import { checkStart, type JudgedCheck, type StartSource } from "./check-start.ts";
import { onlyChecks, onlyPhases } from "./only-phases.ts";
import { checkRoles, type RoleSource } from "./roles.ts";

/** A run as a person or a program asks for it. */
export interface AskedRun {
  /** A valid plan. */
  readonly plan: PhasePlan;
  /** Checks of this plan. */
  readonly checks: PlanChecks | null;
  /** Keys of the phases to run, with those that they depend on; none for all. */
  readonly only: readonly string[];
  readonly options: RunOptions;
  readonly session: CreateRun["session"];
  readonly path: string | null;
  readonly again: boolean;
}

/** How what is asked for is judged. */
export interface RunJudges {
  /** Null if the roles and models are not known here. */
  readonly roles: Pick<RoleSource, "personas" | "models"> | null;
  /** Null if artifacts and checks cannot be judged here. */
  readonly start: StartSource | null;
}

/** A run that may be stored once a person lets its checks be run. */
export interface PreparedRun {
  readonly run: CreateRun;
  /** The plan that is run. */
  readonly plan: PhasePlan;
  /** Models by role. */
  readonly roles: ReadonlyMap<string, string>;
  readonly judged: readonly JudgedCheck[];
}

/**
 * Refuses a run that could not be done, before anything is stored or a model is asked.
 *
 * Error codes: `invalid_usage` for unknown keys, checks that nobody can judge, and keys that are too long; as `checkRoles` and
 * `checkStart`.
 */
export async function prepareRun(asked: AskedRun, judges: RunJudges): Promise<PreparedRun> {
  const { session, path, again } = asked;
  const { repo_path, model, permission: mode = null } = session;
  const plan = onlyPhases(asked.plan, asked.only);
  refuseLongKeys(plan);
  const checks = onlyChecks(asked.checks, plan);
  const approve = approvalKeys(plan.phases, asked.options.approve);
  const isPriceLimited = Object.keys(session.price_limits ?? {}).length > 0;
  const roles =
    judges.roles === null
      ? new Map<string, string>()
      : await checkRoles(plan, { ...judges.roles, repo_path, model, isPriceLimited });
  if (judges.start === null && checks !== null) {
    throw new RepriseError(
      "invalid_usage",
      "This service cannot judge checks, so it takes none. Leave them out, or begin the run with `reprise plan run`.",
    );
  }
  const judged =
    judges.start === null ? [] : await checkStart(judges.start, { plan, checks, repo_path, mode });
  return {
    plan,
    roles,
    judged,
    run: {
      session,
      run_id: plan.runId,
      plan: JSON.stringify(plan),
      keys: plan.phases.map(({ key }) => key),
      path,
      checks,
      options: { ...asked.options, approve },
      request: requestOf(plan),
      again,
    },
  };
}

/** UTF-16 units of the titles of phases in the message that begins a run. */
const MAX_TITLES = 200;

/** The title of the run's session is the beginning of this, and a plan has no title but those of its phases. */
function requestOf({ runId, phases }: PhasePlan): string {
  const titles = phases.map(({ title }) => title).join("; ");
  const cut = titles.length > MAX_TITLES ? `${titles.slice(0, MAX_TITLES)}…` : titles;
  const shown = storableText(cut).replaceAll(/\s+/gu, " ").trim();
  return shown === "" ? `Run the plan ${runId}.` : shown;
}

function refuseLongKeys({ phases }: PhasePlan): void {
  const long = phases.find(({ key }) => key.length > MAX_PHASE_KEY);
  if (long !== undefined) {
    throw new RepriseError(
      "invalid_usage",
      `The key ${long.key.slice(0, 30)}… has ${long.key.length} characters, and a phase that is run may have ${MAX_PHASE_KEY}. Give it a shorter one.`,
    );
  }
}
