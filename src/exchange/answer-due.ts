import { isRepriseError } from "../core/errors.ts";
import { LEASE_MS } from "../core/limits.ts";
import { answerByDefault, findDueQuestions } from "../store/records/questions/due.ts";
import type { Store } from "../store/store.ts";

/** Errors that mean that somebody else was first. */
const NOT_OPEN = [
  "question_answered",
  "question_not_found",
  "session_ended",
  "session_not_found",
] as const;

/** Calls `answerDue` now and every `everyMs`, until the returned function is called. */
export function keepAnswering({
  store,
  everyMs = LEASE_MS / 3,
  onFailure,
}: {
  readonly store: Store;
  readonly everyMs?: number;
  readonly onFailure: (error: unknown) => void;
}): () => void {
  const answer = (): void => {
    answerDue(store).catch((error: unknown) => {
      if (!isRepriseError(error, "shutting_down")) {
        onFailure(error);
      }
    });
  };
  const timer = setInterval(answer, everyMs);
  timer.unref();
  answer();
  return () => clearInterval(timer);
}

/**
 * Gives the questions that nobody answered in time their default answers. With `top`, those of this
 * session's tree alone, and the caller continues its exchange: no node may take it first.
 */
export async function answerDue(store: Store, top: string | null = null): Promise<void> {
  for (const question of await store.read(findDueQuestions, { top })) {
    try {
      await store.write(answerByDefault, { ...question, continues: top !== null });
    } catch (error) {
      if (!isRepriseError(error, ...NOT_OPEN)) {
        throw error;
      }
    }
  }
}
