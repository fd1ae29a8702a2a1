import {
  type AdmissionChoice,
  type Choice,
  type LimitChoice,
  type PermissionChoice,
  positionId,
  type QuestionKind,
} from "../../core/questions.ts";
import type {
  PortableQuestion,
  SessionTree,
  WrittenQuestion,
  WrittenTree,
} from "./export-schema.ts";

/**
 * A tree in the form that this build writes. Builds before the baseline wrote only the texts of choices: each gets its
 * id, and the answer to such a question becomes the id of its text. No meaning is added that nobody was shown.
 */
export function currentTree({ session, children, ...tree }: WrittenTree): SessionTree {
  const { questions, ...fields } = session;
  return {
    ...tree,
    session: {
      ...fields,
      ...(questions === undefined ? {} : { questions: questions.map(currentQuestion) }),
    },
    children: children.map(currentTree),
  };
}

function currentQuestion({ effect: _, choices, ...question }: WrittenQuestion): PortableQuestion {
  const current = choices?.map((choice, index) =>
    typeof choice === "string" ? choiceOf(question.kind, choice, index) : choice,
  );
  if (choices === null || current === undefined) {
    return { ...question, choices: null };
  }
  const idOf = (text: string | null): string | null =>
    current.find(({ label }, index) => label === text && choices[index] === text)?.id ?? text;
  return {
    ...question,
    choices: current,
    answer: idOf(question.answer),
    default_answer: idOf(question.default_answer),
  };
}

function choiceOf(kind: QuestionKind, label: string, index: number): Choice {
  const id = kind === "question" ? undefined : IDS.get(label);
  return { id: id ?? positionId(index), label, meaning: null, lasting: null };
}

/** Words of builds before the baseline. They are what files hold, so they do not follow `core/text/words.ts`. */
const IDS: ReadonlyMap<string, PermissionChoice | LimitChoice | AdmissionChoice> = new Map([
  ["allow once", "allow_once"],
  ["allow for this exchange", "allow_exchange"],
  ["always allow in this session", "allow_session"],
  ["decide for each file", "allow_each"],
  ["deny", "deny"],
  ["continue", "continue"],
  ["stop", "stop"],
  ["yes", "yes"],
  ["no", "no"],
]);
