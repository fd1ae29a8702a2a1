import type { BaseMessage } from "@langchain/core/messages";

/**
 * Returns the list itself if no message changes: a long thread is walked through at each call of a model, and most
 * calls change nothing.
 */
export function mapChanged(
  messages: readonly BaseMessage[],
  change: (message: BaseMessage, at: number) => BaseMessage,
): readonly BaseMessage[] {
  let changed: BaseMessage[] | null = null;
  messages.forEach((message, at) => {
    const made = change(message, at);
    if (made !== message) {
      changed ??= messages.slice();
      changed[at] = made;
    }
  });
  return changed ?? messages;
}
