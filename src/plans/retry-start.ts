import { limitReached, reachedLimit } from "../core/cost/limits.ts";
import { readPermissions } from "../store/records/sessions/permissions.ts";
import { readLimits, readLimitUse } from "../store/records/sessions/limits.ts";
import type { StoredRun } from "../store/records/plans/read-runs.ts";
import type { Store } from "../store/store.ts";
import { refuseMissingFolder } from "../workspace/files/is-folder.ts";
import { checkStart, type StartSource } from "./check-start.ts";
import { planOf } from "./plan-of-run.ts";
import { checkRoles, type RoleSource } from "./roles.ts";

/** Sources of what decides whether an attempt can begin. */
export interface RetryJudges {
  readonly keys: ReadonlySet<string>;
  readonly roles: Pick<RoleSource, "personas" | "models">;
  readonly start: StartSource;
}

/**
 * Refuses another attempt of phases that could not begin, before anything of the earlier attempts is taken back.
 *
 * Error codes: `folder_missing`, `budget_reached`, `price_limit_reached`; as `checkRoles` and `checkStart`.
 */
export async function checkRetry(
  store: Store,
  run: StoredRun,
  { keys, roles, start }: RetryJudges,
): Promise<void> {
  const { session } = run;
  const { id } = session;
  const repo_path = session.repo_path ?? "";
  await refuseMissingFolder(repo_path, "try the phases again");
  const use = await store.read(readLimitUse, { id });
  const reached = reachedLimit(use);
  const error = reached === null ? null : limitReached(reached, use);
  if (error?.is_lasting === true) {
    throw error;
  }
  const plan = planOf(run);
  const { prices } = await store.read(readLimits, { id });
  const isPriceLimited = Object.keys(prices).length > 0;
  const chosen = plan.phases.filter(({ key }) => keys.has(key));
  await checkRoles(
    { ...plan, phases: chosen },
    { ...roles, repo_path, model: session.model ?? "", isPriceLimited },
  );
  const { mode } = await store.read(readPermissions, { id });
  // a run with checks needs its sandbox whichever phase is tried again
  const others = plan.phases.filter(({ key }) => !keys.has(key));
  const phases = [...chosen, ...others.map(({ expected_artifact: _, ...phase }) => phase)];
  await checkStart(start, { plan: { ...plan, phases }, checks: run.checks, repo_path, mode });
}
