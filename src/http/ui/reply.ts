import { invalidRequest } from "../../core/invalid-request.ts";

/** What clients of other protocols say to a question: yes or no, and a text. */
export interface Reply {
  /** Null if the client said neither: then only its text can be an answer. */
  readonly approved: boolean | null;
  readonly text: string | null;
}

/** The choices that mean yes and no. */
const YES = ["allow", "yes", "continue"];
const NO = ["deny", "no", "stop"];

/** The answer to a question for any text, if a person says only no. */
const DECLINED = "The person declined to answer.";

/**
 * The answer that a reply is, and the note beside it: its text if the question takes it, else the choice that
 * means yes or no.
 *
 * Error codes: `invalid_request` if the reply fits none of the choices, or is a yes without a text for a question
 * that takes any text.
 */
export function answerOf(
  choices: readonly string[] | null,
  { approved, text }: Reply,
): { readonly answer: string; readonly note: string | null } {
  if (text !== null && (choices === null || choices.includes(text))) {
    return { answer: text, note: null };
  }
  const meaning = approved === true ? YES : NO;
  const choice = choices?.find((each) => meaning.includes(each));
  if (approved !== null && choice !== undefined) {
    return { answer: choice, note: text };
  }
  if (choices === null && approved === false) {
    return { answer: DECLINED, note: null };
  }
  const message =
    choices === null
      ? "The question takes a text. Send it with the answer."
      : "The question has other choices. Send one of them as the text of the answer.";
  throw invalidRequest([{ pointer: "/messages", message }]);
}
