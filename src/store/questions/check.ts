import type { QuestionState } from "../../core/questions.ts";
import type { SessionState } from "../../core/sessions.ts";

/** What is checked of a question, and of its session. */
export interface CheckedQuestion {
  readonly thread_suffix: number;
  readonly call_id: string;
  readonly number: number;
  readonly state: QuestionState;
  readonly choices: readonly string[] | string | null;
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

/** What cannot be true of a session's questions, which are in order of thread, call and number. */
export function* questionProblems(
  questions: readonly CheckedQuestion[],
  session: { readonly thread_suffix: number; readonly state: SessionState },
): Generator<QuestionProblem, undefined> {
  const seen = new Set<string>();
  for (const [index, question] of questions.entries()) {
    const { thread_suffix, call_id, number, state, answer, answered_at, answered_by } = question;
    const { default_answer, answer_by } = question;
    const isAnswered = state === "answered";
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
      ["choices", isChoice(question, answer), "Must have the answer, if there are any."],
      ["default_answer", takesDefault(question), "Must be one of the choices."],
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

function takesDefault(question: CheckedQuestion): boolean {
  const { choices, default_answer } = question;
  return default_answer === null || (choices !== null && isChoice(question, default_answer));
}

function isChoice({ choices }: CheckedQuestion, answer: string | null): boolean {
  if (choices === null || answer === null) {
    return true;
  }
  try {
    const list: unknown = typeof choices === "string" ? JSON.parse(choices) : choices;
    return Array.isArray(list) && list.includes(answer);
  } catch {
    return false;
  }
}
