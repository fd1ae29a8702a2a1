import {
  areChoicesOf,
  type Choice,
  type QuestionKind,
  type QuestionState,
} from "../../../core/questions.ts";
import type { SessionState } from "../../../core/sessions.ts";

/** Question that is checked, and facts of its session. */
export interface CheckedQuestion {
  readonly thread_suffix: number;
  readonly call_id: string;
  readonly number: number;
  readonly state: QuestionState;
  readonly kind: QuestionKind;
  readonly choices: readonly Choice[] | string | null;
  readonly answer: string | null;
  readonly answered_at: string | null;
  readonly answered_by: string | null;
  readonly default_answer: string | null;
  readonly answer_by: string | null;
}

export interface QuestionProblem {
  /** Position of the question in the list. */
  readonly index: number;
  readonly field: keyof CheckedQuestion;
  /** Begins with "Must". */
  readonly message: string;
}

/** Yields what cannot be true of a session's questions, which are in order of thread, call and number. */
export function* questionProblems(
  questions: readonly CheckedQuestion[],
  session: { readonly thread_suffix: number; readonly state: SessionState },
): Generator<QuestionProblem, undefined> {
  const seen = new Set<string>();
  for (const [index, question] of questions.entries()) {
    const { thread_suffix, call_id, number, state, answer, answered_at, answered_by } = question;
    const { default_answer, answer_by } = question;
    const isAnswered = state === "answered";
    const ids = idsOf(question.choices);
    const has = (id: string | null): boolean => id === null || ids === null || ids.includes(id);
    const key = JSON.stringify([thread_suffix, call_id, number]);
    const rules: readonly (readonly [keyof CheckedQuestion, boolean, string])[] = [
      ["thread_suffix", thread_suffix <= session.thread_suffix, "Must be a thread's."],
      [
        "state",
        state !== "open" || session.state === "active",
        "Must be final in an ended session.",
      ],
      ["number", number >= 1 && !seen.has(key), "Must be 1 or more, and that of one question."],
      ["answer", isAnswered === (answer !== null), "Must be there only if it was answered."],
      ["answered_at", isAnswered === (answered_at !== null), "Must be there only with an answer."],
      ["answered_by", isAnswered === (answered_by !== null), "Must be there only with an answer."],
      ["choices", has(answer), "Must have the answer, if there are any."],
      ["choices", areChoicesOf(question.kind, ids ?? []), "Must have the ids of their kind."],
      [
        "default_answer",
        default_answer === null || (ids !== null && has(default_answer)),
        "Must be one of the choices.",
      ],
      ["answer_by", (default_answer === null) === (answer_by === null), "Must have a default."],
    ];
    for (const [field, holds, message] of rules) {
      if (!holds) {
        yield { index, field, message };
      }
    }
    seen.add(key);
  }
}

/** An id that no choice has. */
const UNREADABLE = [""];

/** Ids of choices, also of stored ones; null for no choices. */
function idsOf(choices: CheckedQuestion["choices"]): readonly string[] | null {
  if (choices === null) {
    return null;
  }
  try {
    const list: unknown = typeof choices === "string" ? JSON.parse(choices) : choices;
    return Array.isArray(list) ? list.map(idOf) : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

/** Returns an empty text for what is not a choice: none has that id. */
function idOf(choice: unknown): string {
  const id: unknown =
    typeof choice === "object" && choice !== null && "id" in choice ? choice.id : "";
  return typeof id === "string" ? id : "";
}
