import { isRepriseError } from "../../../core/errors.ts";
import type { Operation } from "../../store.ts";
import { type AnswerQuestion, answerQuestion } from "./answer.ts";
import { withinDelegation } from "./tree.ts";

export interface DueQuestion {
  readonly id: string;
  readonly session_id: string;
  readonly default_answer: string;
}

/** Questions that are answered at a time at once, at most. */
const AT_ONCE = 100;

/** Questions whose time is over, by the database's clock; with `top`, only of that session's tree. */
export const findDueQuestions: Operation<
  { readonly top: string | null },
  readonly DueQuestion[]
> = async (tx, { top }) => {
  const rows = await tx.db
    .selectFrom("questions")
    .select(["id", "session_id", "default_answer"])
    .where("state", "=", "open")
    .where("answer_by", "is not", null)
    .where("answer_by", "<=", tx.dialect.now())
    .$if(top !== null, (query) => query.where("session_id", "in", withinDelegation(top ?? "")))
    .orderBy("answer_by")
    .limit(AT_ONCE)
    .execute();
  return rows.flatMap(({ default_answer, ...row }) =>
    default_answer === null ? [] : [{ ...row, default_answer }],
  );
};

/**
 * Gives such a question its default answer. It gets none if nobody needs the answer any more, and waits for
 * a person if it does not take it: neither is found again.
 *
 * Error codes: as `answerQuestion`.
 */
export const answerByDefault: Operation<
  DueQuestion & Pick<AnswerQuestion, "continues">,
  void
> = async (
  tx,
  { id: question, session_id: reference, default_answer: choice, continues = false },
) => {
  try {
    await answerQuestion(tx, {
      reference,
      question,
      given: { choice },
      note: null,
      answered_by: "timeout",
      continues,
    });
  } catch (error) {
    if (isRepriseError(error, "invalid_request")) {
      await tx.db
        .updateTable("questions")
        .set({ default_answer: null, answer_by: null })
        .where("id", "=", question)
        .execute();
    } else if (!isRepriseError(error, "question_withdrawn")) {
      throw error;
    }
  }
};
