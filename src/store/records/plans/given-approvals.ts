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
  /** `user@host`, or `token`; null for one of another database, and if nobody knows. */
  readonly who: string | null;
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
    .select(({ selectFrom }) =>
      selectFrom("consents")
        .select(({ fn }) => fn.max("who").as("who"))
        .whereRef("consents.session_id", "=", "questions.session_id")
        .where("consents.kind", "=", "answer")
        .whereRef("consents.subject", "=", "questions.id")
        .as("who"),
    )
    .where("session_id", "=", session_id)
    .where("kind", "=", "approval")
    .where("state", "=", "answered")
    .orderBy("answered_at")
    .orderBy("call_id")
    .execute();
  return rows.flatMap(({ answer, answered_by, answered_at, answered_here, ...row }) =>
    answer === null || answered_by === null || answered_at === null
      ? []
      : [{ ...row, answer, answered_by, answered_at, is_own: answered_here === 1 }],
  );
};

/** Consent of a person to the checks of a run. */
export interface ChecksConsent {
  /** `user@host`, or `token`. */
  readonly who: string;
  readonly at: string;
}

/** Reads who let the checks of a run be run here, last; null for nobody that is known. */
export const readChecksConsent: Operation<
  { readonly session_id: string },
  ChecksConsent | null
> = async ({ db }, { session_id }) => {
  const row = await db
    .selectFrom("consents")
    .select(["who", "at"])
    .where("session_id", "=", session_id)
    .where("kind", "=", "run")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
};
