import type { BaseMessage } from "@langchain/core/messages";

import { mapChanged } from "../messages/map-changed.ts";
import { hasReasoning, withoutReasoning } from "../messages/reasoning.ts";
import { noteOf, withNote } from "./note.ts";
import type { Prefix } from "./prefix.ts";

/**
 * Returns the messages as they follow a prefix: with the notes for the model, and without reasoning and notes
 * that belong to an earlier prefix. A message that was made so before is taken from `made`.
 */
export function afterPrefix(
  messages: readonly BaseMessage[],
  { after }: Pick<Prefix, "after">,
  made: WeakMap<BaseMessage, BaseMessage>,
): readonly BaseMessage[] {
  // it is near the start: a prefix begins with the messages that were there
  const last = after === null ? -1 : messages.findIndex(({ id }) => id === after);
  return mapChanged(messages, (message, at) => {
    if (at <= last) {
      return hasReasoning(message) ? kept(made, message, () => withoutReasoning(message)) : message;
    }
    const note = noteOf(message);
    return note === null ? message : kept(made, message, () => withNote(message, note));
  });
}

function kept(
  made: WeakMap<BaseMessage, BaseMessage>,
  message: BaseMessage,
  make: () => BaseMessage,
): BaseMessage {
  const known = made.get(message) ?? make();
  made.set(message, known);
  return known;
}
