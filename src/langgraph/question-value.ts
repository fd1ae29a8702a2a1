import { INTERRUPT, type PendingWrite } from "@langchain/langgraph-checkpoint";

import type { NewQuestion } from "../store/records/questions/ask.ts";

/** Only code of this process can set it: a graph cannot store questions by what it writes. */
const QUESTION: unique symbol = Symbol("question");

interface QuestionValue {
  readonly reprise_question: Pick<NewQuestion, "call_id" | "number">;
  readonly [QUESTION]: NewQuestion;
}

/** The value of a LangGraph interrupt with which a call waits for the answer. */
export function questionValue(question: NewQuestion): QuestionValue {
  const { call_id, number } = question;
  return { reprise_question: { call_id, number }, [QUESTION]: question };
}

/** Returns the questions of the task that has written this. */
export function questionsIn(writes: readonly PendingWrite[]): readonly NewQuestion[] {
  return writes.flatMap(([channel, value]) =>
    channel === INTERRUPT ? [value].flat().flatMap((each: unknown) => questionOf(each) ?? []) : [],
  );
}

function questionOf(interrupt: unknown): NewQuestion | null {
  const value: unknown =
    typeof interrupt === "object" && interrupt !== null && "value" in interrupt
      ? interrupt.value
      : null;
  return typeof value === "object" && value !== null && QUESTION in value
    ? (value as QuestionValue)[QUESTION]
    : null;
}
