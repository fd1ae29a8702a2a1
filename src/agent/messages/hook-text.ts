import { type AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";

/** In the `additional_kwargs` of a user's message. */
const NOTE = "reprise_hook_note";
/** In the `response_metadata` of an answer. */
const STOP = "reprise_stop_hook";

/** Text of a hook for the model, with the mark of the session's prefixes: a file may have brought another one. */
interface HookText {
  readonly text: string;
  readonly mark: string | null;
}

/**
 * A user's message with what hooks report, and what it brings from servers. It is part of no row, and of no facts that a model knows: unlike a note of the
 * program it says what was so at that moment.
 */
export function withHookNote(
  message: HumanMessage,
  { text, mark }: { readonly text: string | null; readonly mark: string | null },
): HumanMessage {
  return text === null
    ? message
    : new HumanMessage({
        ...(message.id === undefined ? {} : { id: message.id }),
        content: message.content,
        additional_kwargs: { ...message.additional_kwargs, [NOTE]: { text, mark } },
      });
}

/** Keeps with an answer why it is not to be the last one. */
export function keepStopReason(answer: AIMessage, reason: HookText): void {
  answer.response_metadata = { ...answer.response_metadata, [STOP]: reason };
  answer.lc_kwargs["response_metadata"] = answer.response_metadata;
}

/** Returns what hooks of this database report with a message; null without it. */
export function hookNoteOf(message: BaseMessage, mark: string | null): string | null {
  const note = message.type === "human" ? textIn(message.additional_kwargs, NOTE) : null;
  return note !== null && isOwn(note, mark) ? note.text : null;
}

/** True for an answer after which a hook did not let the model stop. */
export function isContinued(message: BaseMessage | undefined): boolean {
  return message?.type === "ai" && textIn(message.response_metadata, STOP) !== null;
}

/**
 * The request that follows an answer after which the model may not stop; null for another message. It says why if a
 * hook of this database did so.
 */
export function stopRequest(message: BaseMessage, mark: string | null): HumanMessage | null {
  const reason = message.type === "ai" ? textIn(message.response_metadata, STOP) : null;
  if (reason === null) {
    return null;
  }
  return new HumanMessage(
    isOwn(reason, mark)
      ? `[A hook of the user does not let you end here: ${reason.text}]`
      : "[Continue.]",
  );
}

function isOwn(given: HookText, mark: string | null): boolean {
  return mark !== null && given.mark === mark;
}

/** Reads a message from anywhere. */
function textIn(facts: unknown, name: string): HookText | null {
  const given: unknown =
    typeof facts === "object" && facts !== null ? Reflect.get(facts, name) : null;
  if (typeof given !== "object" || given === null) {
    return null;
  }
  const text: unknown = Reflect.get(given, "text");
  const mark: unknown = Reflect.get(given, "mark");
  return typeof text === "string" ? { text, mark: typeof mark === "string" ? mark : null } : null;
}
