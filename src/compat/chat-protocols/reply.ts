import { invalidRequest } from "../../core/invalid-request.ts";
import { type Choice, type GivenReply, isHarmlessChoice } from "../../core/questions.ts";
import type { QuestionInfo } from "../../core/schemas/schemas.ts";

/** Reply of a client of another protocol to a question: yes or no, and a text. */
export interface Reply {
  /** Null if the client said neither: then only its text can be an answer. */
  readonly approved: boolean | null;
  /** The id of a choice, or another text. */
  readonly text: string | null;
  /** A text besides the answer. */
  readonly note: string | null;
}

/** The ids that mean yes and no; of what a model offers, its own words. */
const YES = ["allow_once", "yes", "continue", "approve"];
const NO = ["deny", "no", "stop", "refuse"];
const YES_WORDS = ["allow", "yes", "continue"];

/** The answer to a question for any text, if a person says only no. */
const DECLINED = "The person declined to answer.";

/**
 * The answer that a reply is, and the note beside it: the choice that its text names, or the text if the question takes
 * any, else the choice that means yes or no. A no allows nothing, whatever its text is.
 *
 * Error codes: `invalid_request` if the reply fits none of the choices, or is a yes without a text for a question
 * that takes any text.
 */
export function answerOf(
  { kind, choices }: Pick<QuestionInfo, "kind" | "choices">,
  { approved, text, note }: Reply,
): { readonly given: GivenReply; readonly note: string | null } {
  if (choices === null) {
    return { given: { text: textOf(approved, text) }, note };
  }
  const isOffered = kind === "question";
  const named = choices.find(({ id }) => id === text);
  if (named !== undefined && (approved !== false || isOffered || isHarmlessChoice(named.id))) {
    return { given: { choice: named.id }, note };
  }
  const meant =
    approved === null
      ? undefined
      : choices.find((choice) => meaningOf(choice, isOffered) === approved);
  if (meant === undefined) {
    throw refused("The question has other choices. Send the id of one of them.");
  }
  return { given: { choice: meant.id }, note: note ?? text };
}

function textOf(approved: boolean | null, text: string | null): string {
  if (text === null && approved !== false) {
    throw refused("The question takes a text. Send it with the answer.");
  }
  return text ?? DECLINED;
}

/** Whether a choice is a yes or a no; null for neither. */
function meaningOf({ id, label }: Choice, isOffered: boolean): boolean | null {
  const [word, yes] = isOffered ? [label, YES_WORDS] : [id, YES];
  return yes.includes(word) || (NO.includes(word) ? false : null);
}

function refused(message: string): Error {
  return invalidRequest([{ pointer: "/messages", message }]);
}
