import { newId } from "../../../core/ids.ts";
import { approvalCallId, type PhaseState } from "../../../core/plan-runs.ts";
import type { Asking } from "../../../core/questions.ts";
import type { Operation } from "../../store.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { insertQuestion, shownHash } from "../questions/ask.ts";

export interface AskApproval {
  /** Lease of the run's exchange. */
  readonly fence: Fence;
  readonly thread_suffix: number;
  readonly key: string;
  readonly attempt: number;
  readonly asking: Asking;
}

/**
 * Stores that a waiting phase needs approval, with the question. It has no default answer. Nothing if the phase does not wait.
 *
 * Error codes: as `holdFence`.
 */
export const askApproval: Operation<AskApproval, void> = async (tx, input) => {
  const { fence, thread_suffix, key, attempt, asking } = input;
  const { session_id } = fence;
  await holdFence(tx, fence);
  const asked = await tx.db
    .updateTable("plan_phases")
    .set({ state: "approval" })
    .where("session_id", "=", session_id)
    .where("key", "=", key)
    .where("attempt", "=", attempt)
    .where("state", "=", "waiting")
    .returning("key")
    .executeTakeFirst();
  if (asked === undefined) {
    return;
  }
  const call_id = approvalCallId({ key, attempt });
  const before = await tx.db
    .selectFrom("questions")
    .select("number")
    .where(({ and }) => and({ session_id, thread_suffix, call_id }))
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  const question = {
    ...asking,
    id: newId(),
    call_id,
    number: (before?.number ?? 0) + 1,
    shown_hash: shownHash(asking),
    default: null,
  };
  await insertQuestion(tx, { session_id, thread_suffix }, question);
};

/** Change of a phase that a person decided about. */
export interface MovedPhase {
  readonly key: string;
  readonly attempt: number;
  readonly from: PhaseState;
  readonly to: Extract<PhaseState, "waiting" | "refused">;
  readonly approved: number;
  /** Reason of a refusal; null for another change. */
  readonly refused: string | null;
}

/** Stores what people decided about phases. Error codes: as `holdFence`. */
export const movePhases: Operation<
  { readonly fence: Fence; readonly moves: readonly MovedPhase[] },
  void
> = async (tx, { fence, moves }) => {
  await holdFence(tx, fence);
  for (const { key, attempt, from, to, approved, refused } of moves) {
    const error = { error_code: "refused", error_sentence: refused, ended_at: tx.dialect.now() };
    await tx.db
      .updateTable("plan_phases")
      .set({ state: to, approved, ...(refused === null ? {} : error) })
      .where("session_id", "=", fence.session_id)
      .where("key", "=", key)
      .where("attempt", "=", attempt)
      .where("state", "=", from)
      .execute();
  }
  tx.touch(fence.session_id);
};
