import type { Selectable } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { type PhaseChecked, phaseCallId, type PhaseState } from "../../../core/plan-runs.ts";
import type { Operation, Tx } from "../../store.ts";
import type { PlanPhaseTable } from "../../tables/plans.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { batches } from "../threads/bodies.ts";
import { withinDelegation } from "../questions/tree.ts";

/** A phase as it is stored, with the sub-agent of its attempt. */
export interface StoredPhase extends Omit<Selectable<PlanPhaseTable>, "session_id" | "changed"> {
  /** Session of the sub-agent; null before it begins. */
  readonly child: string | null;
  /** True for a running phase that can do nothing before a person answers. */
  readonly asks: boolean;
}

/** Reads the phases of a run in the order of the plan. */
export const readPhases: Operation<
  { readonly session_id: string },
  readonly StoredPhase[]
> = async (tx, { session_id }) =>
  (await readPhasesOf(tx, { session_ids: [session_id] })).get(session_id) ?? [];

/** As `readPhases`, for runs by the ids of their sessions: with as many statements for many runs as for one that runs nothing. */
export const readPhasesOf: Operation<
  { readonly session_ids: readonly string[] },
  ReadonlyMap<string, readonly StoredPhase[]>
> = async (tx, { session_ids }) => {
  const phases = new Map(session_ids.map((id): [string, StoredPhase[]] => [id, []]));
  for (const ids of batches(session_ids)) {
    const rows = await tx.db
      .selectFrom("plan_phases")
      .selectAll()
      .where("session_id", "in", ids)
      .orderBy("position")
      .execute();
    const children = await tx.db
      .selectFrom("sessions")
      .select(["id", "parent_session_id", "parent_call_id"])
      .where("parent_session_id", "in", ids)
      .where("parent_call_id", "is not", null)
      .execute();
    const byCall = new Map(
      children.map((child) => [`${child.parent_session_id} ${child.parent_call_id}`, child.id]),
    );
    for (const { session_id: run, changed: _, ...row } of rows) {
      const child = byCall.get(`${run} ${phaseCallId(row.key, row.attempt)}`) ?? null;
      const asks = row.state === "running" && child !== null && (await waitsForPeople(tx, child));
      phases.get(run)?.push({ ...row, child, asks });
    }
  }
  return phases;
};

/**
 * Returns true if the exchange of a sub-agent waits, and each one that waits below it, and waits for none below itself,
 * has an open question.
 */
async function waitsForPeople(tx: Tx, id: string): Promise<boolean> {
  const waiting = await tx.db
    .selectFrom("exchanges")
    .innerJoin("sessions", "sessions.id", "exchanges.session_id")
    .select(["sessions.id", "sessions.parent_session_id"])
    .where("exchanges.session_id", "in", withinDelegation(id))
    .where("exchanges.ended_at", "is", null)
    .where("exchanges.state", "=", "waiting")
    .execute();
  if (!waiting.some((row) => row.id === id)) {
    return false;
  }
  const above = new Set(waiting.map(({ parent_session_id }) => parent_session_id));
  const lowest = waiting.filter((row) => !above.has(row.id)).map((row) => row.id);
  const asking = await tx.db
    .selectFrom("questions")
    .select("session_id")
    .distinct()
    .where("session_id", "in", lowest)
    .where("state", "=", "open")
    .where("kind", "!=", "messages")
    .execute();
  return asking.length === lowest.length;
}

export interface BeginPhase {
  /** Lease of the run's exchange. */
  readonly fence: Fence;
  readonly key: string;
}

/** Stores that the attempt of a waiting phase begins. Error codes: as `holdFence`. */
export const beginPhase: Operation<BeginPhase, void> = async (tx, { fence, key }) => {
  await holdFence(tx, fence);
  await tx.db
    .updateTable("plan_phases")
    .set({ state: "running", begun_at: tx.dialect.now(), ended_at: null })
    .where("session_id", "=", fence.session_id)
    .where("key", "=", key)
    .where("state", "=", "waiting")
    .execute();
  tx.touch(fence.session_id);
};

/**
 * Stores a run of the checks of a running attempt, in place of an earlier one. Error codes: as `holdFence`; `invalid_request` if
 * another artifact was handed in meanwhile.
 */
export const keepChecked: Operation<BeginPhase & { readonly checked: PhaseChecked }, void> = async (
  tx,
  { fence, key, checked },
) => {
  await holdFence(tx, fence);
  const { artifact_hash: hash } = checked;
  const updated = await tx.db
    .updateTable("plan_phases")
    .set({ checked: JSON.stringify(checked) })
    .where("session_id", "=", fence.session_id)
    .where("key", "=", key)
    .where("attempt", "=", checked.attempt)
    .where("state", "=", "running")
    .where("artifact_hash", hash === null ? "is" : "=", hash)
    .returning("key")
    .executeTakeFirst();
  if (updated === undefined) {
    throw new RepriseError(
      "invalid_request",
      "Another artifact was handed in while the checks of this phase ran. Let the phase be tried again.",
    );
  }
};

export interface EndPhase extends BeginPhase {
  readonly attempt: number;
  /** State after the attempt; `waiting` lets another attempt begin. */
  readonly state: Extract<PhaseState, "waiting" | "done" | "failed">;
  /** Error of the attempt; null if it is done. */
  readonly error: { readonly code: string; readonly sentence: string } | null;
}

/** Stores how an attempt of a running phase ended. Error codes: as `holdFence`. */
export const endPhase: Operation<EndPhase, void> = async (tx, input) => {
  const { fence, key, attempt, state, error } = input;
  await holdFence(tx, fence);
  await tx.db
    .updateTable("plan_phases")
    .set({
      state,
      ...(state === "waiting" ? { attempt: attempt + 1, artifact_hash: null } : {}),
      error_code: error?.code ?? null,
      error_sentence: error?.sentence ?? null,
      ended_at: tx.dialect.now(),
    })
    .where("session_id", "=", fence.session_id)
    .where("key", "=", key)
    .where("attempt", "=", attempt)
    .where("state", "=", "running")
    .execute();
  tx.touch(fence.session_id);
};
