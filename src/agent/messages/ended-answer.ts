import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";

import { RepriseError } from "../../core/errors.ts";
import { isSummary } from "../../store/records/messages/summary.ts";
import { endMetadata, endOf } from "../models/answer-end.ts";
import { isContinued, stopRequest } from "./hook-text.ts";
import { callsOf } from "./message-calls.ts";

/** Calls of a model that pauses its answer, before the exchange fails. */
const MAX_PAUSES = 10;

/**
 * An answer as its thread stores it, by how it ended. The calls of one that was cut are left out, whole ones too: the
 * model may have meant more of them. One that is refused or has no text is not stored.
 *
 * Error codes: `model_refused`, `model_context_full`, `answer_cut`.
 */
export function storedAnswer(answer: BaseMessage): BaseMessage {
  const { end, category } = endOf(answer);
  switch (end) {
    case "refused":
      throw new RepriseError(
        "model_refused",
        `The model refuses to answer this${category === null ? "" : ` (${category})`}. Change the request, or choose another model.`,
      );
    case "full":
      throw new RepriseError(
        "model_context_full",
        "The model's context was full before its answer was whole. Start a new session, or choose a model with a larger context.",
      );
    case "cut":
      if (answer.text.trim() === "") {
        throw answerCut();
      }
      return hasCalls(answer) ? withoutCalls(answer) : answer;
    default:
      return answer;
  }
}

/**
 * An answer that nothing may continue.
 *
 * Error codes: as `storedAnswer`, whose `answer_cut` every unfinished answer is.
 */
export function wholeAnswer<Answer extends BaseMessage>(answer: Answer): Answer {
  const error = unfinishedError(storedAnswer(answer));
  if (error !== null) {
    throw error;
  }
  return answer;
}

function answerCut(): RepriseError {
  return new RepriseError(
    "answer_cut",
    "The answer was cut off at the limit of the model's output. Let it continue, or ask for less at once.",
  );
}

/** Returns the error of an exchange whose last answer is not whole; null for another answer. */
export function unfinishedError(answer: BaseMessage | undefined): RepriseError | null {
  if (!isUnfinished(answer)) {
    return null;
  }
  return endOf(answer).end === "cut"
    ? answerCut()
    : new RepriseError(
        "answer_cut",
        `The model paused its answer ${MAX_PAUSES} times without an end. Let it continue, or ask for less at once.`,
      );
}

/** True for an answer that the model's next one continues. */
export function isUnfinished(message: BaseMessage | undefined): boolean {
  const { end } = endOf(message);
  return end === "cut" || end === "paused";
}

/**
 * True if the model is asked again by itself: once after text that was cut off, until `MAX_PAUSES` answers were
 * paused, and if a hook does not let it stop.
 */
export function mayRunOn(messages: readonly BaseMessage[]): boolean {
  if (isContinued(messages.at(-1))) {
    return true;
  }
  const { end, reason } = endOf(messages.at(-1));
  const times = messages.length - 1 - messages.findLastIndex((each) => endOf(each).end !== end);
  return end === "cut"
    ? times === 1 && reason !== CUT_CALL
    : end === "paused" && times < MAX_PAUSES;
}

/** The reason of a cut answer whose calls are left out. */
const CUT_CALL = "cut_call";

function hasCalls(answer: BaseMessage): boolean {
  return (
    callsOf(answer).length > 0 ||
    (AIMessage.isInstance(answer) && (answer.invalid_tool_calls ?? []).length > 0)
  );
}

/** The text alone: reasoning may not be sent without the calls that it led to. */
function withoutCalls(answer: BaseMessage): AIMessage {
  const usage = AIMessage.isInstance(answer) ? answer.usage_metadata : undefined;
  return new AIMessage({
    content: answer.text,
    response_metadata: endMetadata({ end: "cut", reason: CUT_CALL, category: null }),
    ...(usage === undefined ? {} : { usage_metadata: usage }),
  });
}

/**
 * Returns a message that asks for the rest of an answer that was cut off, or for more than one that was to be the last; null
 * for another answer. `mark` is that of the session's prefixes.
 */
export function requestAfter(message: BaseMessage, mark: string | null): HumanMessage | null {
  const { end, reason } = endOf(message);
  return end === "cut"
    ? new HumanMessage(reason === CUT_CALL ? CALL_AGAIN : CONTINUE)
    : stopRequest(message, mark);
}

const CALL_AGAIN =
  "[Your answer was cut off at the limit of your output while you called tools; none was run. Call them again, and do less with each call.]";
const CONTINUE =
  "[Your answer was cut off at the limit of your output. Continue it exactly where it ends, without repeating any of it.]";

/** The text of a thread's last answer, after that of the answers which it continues. */
export function answerText(messages: readonly BaseMessage[]): string {
  let text: string | null = null;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message === undefined || isSummary(message)) {
      continue;
    }
    if (text === null) {
      text = AIMessage.isInstance(message) ? message.text : null;
    } else if (isUnfinished(message)) {
      text = `${message.text}${text}`;
    } else {
      break;
    }
  }
  return text ?? "";
}
