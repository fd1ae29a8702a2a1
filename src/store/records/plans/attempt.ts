import { RepriseError } from "../../../core/errors.ts";
import { attemptOfCall, phaseCallId } from "../../../core/plan-runs.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Operation } from "../../store.ts";
import { type Fence, holdFence } from "../leases/fence.ts";

/** The phase that a sub-agent works on, in the plan of its run. */
export interface OwnPhase {
  readonly key: string;
  /** JSON of the plan. */
  readonly plan: string;
}

/** Reads the phase of a session; null for one that works on none. Costs no statement for ordinary sub-agents. */
export const readOwnPhase: Operation<
  Pick<Session, "parent_session_id" | "parent_call_id">,
  OwnPhase | null
> = async (tx, { parent_session_id, parent_call_id }) => {
  const attempt = attemptOfCall(parent_call_id);
  if (attempt === null) {
    return null;
  }
  const run = await tx.db
    .selectFrom("plan_runs")
    .select("plan")
    .where("session_id", "=", parent_session_id)
    .executeTakeFirst();
  return run === undefined ? null : { key: attempt.key, plan: run.plan };
};

export interface KeepArtifact {
  /** Lease of the sub-agent that hands it in. */
  readonly fence: Fence;
  /** SHA-256 in hexadecimal digits. */
  readonly hash: string;
}

/**
 * Stores which artifact an attempt has handed in, in place of an earlier one.
 *
 * Error codes: as `holdFence`; `invalid_request` if the attempt has ended.
 */
export const keepArtifact: Operation<KeepArtifact, void> = async (tx, { fence, hash }) => {
  await holdFence(tx, fence);
  const child = await tx.db
    .selectFrom("sessions")
    .select(["parent_session_id", "parent_call_id"])
    .where("id", "=", fence.session_id)
    .executeTakeFirst();
  const attempt = attemptOfCall(child?.parent_call_id ?? null);
  const updated = await tx.db
    .updateTable("plan_phases")
    .set({ artifact_hash: hash })
    .where("session_id", "=", child?.parent_session_id ?? "")
    .where("key", "=", attempt?.key ?? "")
    .where("attempt", "=", attempt?.attempt ?? 0)
    .where("state", "=", "running")
    .returning("key")
    .executeTakeFirst();
  if (updated === undefined) {
    throw new RepriseError(
      "invalid_request",
      "This attempt of the phase has ended, so it takes no artifact any more.",
    );
  }
};

/** Progress of an attempt, as far as it decides whether the phase is done. */
export interface StoredAttempt {
  readonly child: string;
  /** Number of the last exchange of the sub-agent. */
  readonly n: number;
  readonly artifact_hash: string | null;
  /** Messages that the sub-agent has got, the first one included. */
  readonly prompts: number;
}

/** Reads an attempt whose sub-agent has begun. Error codes: `run_missing` without its rows. */
export const readAttempt: Operation<
  { readonly session_id: string; readonly key: string; readonly attempt: number },
  StoredAttempt
> = async (tx, { session_id, key, attempt }) => {
  const row = await tx.db
    .selectFrom("sessions")
    .innerJoin("plan_phases", "plan_phases.session_id", "sessions.parent_session_id")
    .select(["sessions.id", "sessions.exchange_count", "plan_phases.artifact_hash"])
    .where("sessions.parent_session_id", "=", session_id)
    .where("sessions.parent_call_id", "=", phaseCallId(key, attempt))
    .where("plan_phases.key", "=", key)
    .executeTakeFirst();
  if (row === undefined) {
    throw new RepriseError(
      "run_missing",
      "The rows of this run are missing, so it cannot be continued. Run the plan again.",
    );
  }
  const { count } = await tx.db
    .selectFrom("messages")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("session_id", "=", row.id)
    .where("role", "=", "user")
    .executeTakeFirstOrThrow();
  return {
    child: row.id,
    n: row.exchange_count,
    artifact_hash: row.artifact_hash,
    prompts: count,
  };
};
