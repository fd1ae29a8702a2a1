import { isRepriseError } from "../core/errors.ts";
import { answerByDefault, findDueQuestions } from "../store/questions/due.ts";
import type { Store } from "../store/store.ts";

/** What somebody else did first. */
const NOT_OPEN = [
  "question_answered",
  "question_not_found",
  "session_ended",
  "session_not_found",
] as const;

/** Gives the questions that nobody answered in time their default answers. */
export async function answerDue(store: Store): Promise<void> {
  for (const question of await store.read(findDueQuestions, null)) {
    try {
      await store.write(answerByDefault, question);
    } catch (error) {
      if (!isRepriseError(error, ...NOT_OPEN)) {
        throw error;
      }
    }
  }
}
