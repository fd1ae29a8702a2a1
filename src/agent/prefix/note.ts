import { type BaseMessage, HumanMessage } from "@langchain/core/messages";

import { type KnownFacts, knownFactsIn } from "./facts.ts";

/** In the `additional_kwargs` of a user's message. */
const NOTE = "reprise_note";

/** Changes that a model reads after a user's message. */
export interface Note {
  readonly text: string;
  /** All facts that the model knows once it has read the note. */
  readonly known: KnownFacts;
}

/** A user's message with a note. The note is part of no row: people read what the user wrote. */
export function noted(message: HumanMessage, note: Note | null): HumanMessage {
  return note === null
    ? message
    : new HumanMessage({
        ...(message.id === undefined ? {} : { id: message.id }),
        content: message.content,
        additional_kwargs: { ...message.additional_kwargs, [NOTE]: note },
      });
}

/** Returns the note of a message; null for a message without one. */
export function noteOf(message: BaseMessage): Note | null {
  const note: unknown = message.type === "human" ? message.additional_kwargs[NOTE] : undefined;
  if (typeof note !== "object" || note === null) {
    return null;
  }
  const text: unknown = Reflect.get(note, "text");
  return typeof text === "string"
    ? { text, known: knownFactsIn(Reflect.get(note, "known")) }
    : null;
}

/**
 * Returns the message as it is sent. One text, not two parts: servers that are compatible with OpenAI's take a
 * text from each of them.
 */
export function withNote(message: BaseMessage, { text }: Pick<Note, "text">): HumanMessage {
  return new HumanMessage({
    ...(message.id === undefined ? {} : { id: message.id }),
    content: `${message.text}\n\n<note_of_the_program>\n${text}\n</note_of_the_program>`,
  });
}
