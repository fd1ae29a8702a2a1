import type { Answerer } from "../../../core/questions.ts";
import type { Operation } from "../../store.ts";

/** Decision of a person about an attempt of a phase. */
export interface GivenApproval {
  readonly call_id: string;
  /** The id of a choice. */
  readonly answer: string;
  readonly note: string | null;
  readonly answered_by: Answerer;
  readonly answered_at: string;
  /** False for one of an import, which counts for nothing. */
  readonly is_own: boolean;
}

/** Reads what people decided about the phases of a run, in the order of their answers. */
export const readGivenApprovals: Operation<
  { readonly session_id: string },
  readonly GivenApproval[]
> = async ({ db }, { session_id }) => {
  const rows = await db
    .selectFrom("questions")
    .select(["call_id", "answer", "note", "answered_by", "answered_at", "answered_here"])
    .where("session_id", "=", session_id)
    .where("kind", "=", "approval")
    .where("state", "=", "answered")
    .orderBy("answered_at")
    .orderBy("call_id")
    .execute();
  return rows.flatMap(({ call_id, answer, note, answered_by, answered_at, answered_here }) =>
    answer === null || answered_by === null || answered_at === null
      ? []
      : [{ call_id, answer, note, answered_by, answered_at, is_own: answered_here === 1 }],
  );
};
