import { createHash } from "node:crypto";

import type { Asking, DefaultAnswer } from "../../../core/questions.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import type { Operation, Tx } from "../../store.ts";
import { touchPath } from "./tree.ts";

/** Hashes what a person is shown, and what that depends on besides: an answer counts only for that. */
export function shownHash({ kind, text, choices, permission }: Asking, basis?: string): string {
  const shown = [kind, text, choices, permission];
  return createHash("sha256")
    .update(JSON.stringify(basis === undefined ? shown : [...shown, basis]))
    .digest("hex");
}

/** Columns that keep what a person is shown besides the texts. */
export function shownColumns({ choices, permission }: Pick<Asking, "choices" | "permission">) {
  return {
    choices: choices === null ? null : JSON.stringify(choices),
    permission: permission === null ? null : JSON.stringify(permission),
  };
}

/** A call of a session's thread. */
export interface AskingCall {
  readonly session_id: string;
  readonly thread_suffix: number;
  readonly call_id: string;
}

/** A question as its tool asks it. */
export interface NewQuestion extends Asking {
  readonly id: string;
  readonly call_id: string;
  readonly number: number;
  readonly shown_hash: string;
  /** Answer that it gets after these milliseconds, if there is no other. */
  readonly default: DefaultAnswer | null;
}

/**
 * Stores what a call asks, in the transaction that stores that it waits. A call that asks the same again
 * finds its question. What it asked before and was shown otherwise needs no answer any more.
 */
export async function insertQuestion(
  tx: Tx,
  thread: Omit<AskingCall, "call_id">,
  { default: later, choices, permission, ...question }: NewQuestion,
): Promise<void> {
  await tx.db
    .insertInto("questions")
    .values({
      ...thread,
      ...question,
      state: "open",
      ...shownColumns({ choices, permission }),
      default_answer: later?.choice ?? null,
      answer_by: later === null ? null : tx.dialect.now(later.after_ms),
      asked_at: tx.dialect.now(),
      answered_at: null,
      answered_by: null,
      answered_epoch: null,
      answer: null,
      note: null,
    })
    .onConflict((conflict) =>
      conflict.columns(["session_id", "thread_suffix", "call_id", "number"]).doNothing(),
    )
    .execute();
  if (question.number > 1) {
    await tx.db
      .updateTable("questions")
      .set({ state: "withdrawn" })
      .where("session_id", "=", thread.session_id)
      .where("thread_suffix", "=", thread.thread_suffix)
      .where("call_id", "=", question.call_id)
      .where("number", "<", question.number)
      .where("state", "=", "open")
      .execute();
  }
  await touchPath(tx, thread.session_id);
}

/** Stores what an exchange asks before anything of it runs. Error codes: as `holdFence`. */
export const askUnderLease: Operation<
  {
    readonly fence: Fence;
    readonly thread_suffix: number;
    readonly question: NewQuestion;
  },
  void
> = async (tx, { fence, thread_suffix, question }) => {
  await holdFence(tx, fence);
  await insertQuestion(tx, { session_id: fence.session_id, thread_suffix }, question);
};

/** Withdraws these questions of the session: no answer is needed any more. Error codes: as `holdFence`. */
export const withdrawUnderLease: Operation<
  { readonly fence: Fence; readonly ids: readonly string[] },
  void
> = async (tx, { fence, ids }) => {
  await holdFence(tx, fence);
  await tx.db
    .updateTable("questions")
    .set({ state: "withdrawn" })
    .where("session_id", "=", fence.session_id)
    .where("state", "=", "open")
    .where("id", "in", ids)
    .execute();
  await touchPath(tx, fence.session_id);
};
