import type { Operation } from "../store.ts";
import { answerQuestion } from "./answer.ts";

export interface DueQuestion {
  readonly id: string;
  readonly session_id: string;
  readonly default_answer: string;
}

/** Questions that are answered at a time at once, at most. */
const AT_ONCE = 100;

/** Questions whose time is over, by the database's clock. */
export const findDueQuestions: Operation<null, readonly DueQuestion[]> = async (tx) => {
  const rows = await tx.db
    .selectFrom("questions")
    .select(["id", "session_id", "default_answer"])
    .where("state", "=", "open")
    .where("answer_by", "is not", null)
    .where("answer_by", "<=", tx.dialect.now())
    .orderBy("answer_by")
    .limit(AT_ONCE)
    .execute();
  return rows.flatMap(({ default_answer, ...row }) =>
    default_answer === null ? [] : [{ ...row, default_answer }],
  );
};

/** Gives such a question its default answer. Error codes: as `answerQuestion`. */
export const answerByDefault: Operation<DueQuestion, void> = async (
  tx,
  { id: question, session_id: reference, default_answer: answer },
) => {
  const given = { reference, question, answer, note: null, answered_by: "timeout" } as const;
  await answerQuestion(tx, given);
};
