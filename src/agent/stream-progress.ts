import { AIMessage, type BaseMessage, isBaseMessage, ToolMessage } from "@langchain/core/messages";

import type { ExchangeListener } from "../exchange/events.ts";
import { failureText } from "./tools/tool-result.ts";

export interface AnswerProgress {
  /** Text of the last complete assistant message. */
  text: string;
  /** Text of the message that is arriving. */
  partial: string;
}

export interface FollowInput {
  /** What each node writes, of `streamMode: "updates"`. */
  readonly stream: AsyncIterable<unknown>;
  readonly listener: ExchangeListener;
  /** Kept up to date while the stream runs, so that a stop finds what had arrived. */
  readonly progress: AnswerProgress;
}

/** Reads an agent's stream to its end and tells the listener. */
export async function followStream(input: FollowInput): Promise<void> {
  for await (const update of input.stream) {
    showUpdates(input, update);
  }
}

/** Tells the listener of a piece of text as it arrives. */
export function showPiece(
  { listener, progress }: Pick<FollowInput, "listener" | "progress">,
  text: string,
): void {
  progress.partial += text;
  listener({ kind: "text", text });
}

function showUpdates(input: FollowInput, chunk: unknown): void {
  for (const update of Object.values(chunk ?? {})) {
    for (const message of messagesIn(update)) {
      showMessage(input, message);
    }
  }
}

function messagesIn(update: unknown): readonly BaseMessage[] {
  if (typeof update !== "object" || update === null || !("messages" in update)) {
    return [];
  }
  const { messages } = update;
  return Array.isArray(messages) ? messages.filter(isBaseMessage) : [];
}

function showMessage({ listener, progress }: FollowInput, message: BaseMessage): void {
  if (ToolMessage.isInstance(message)) {
    listener({ kind: "tool_result", name: message.name ?? "", failure: failureText(message) });
  } else if (AIMessage.isInstance(message)) {
    if (progress.partial === "" && message.text !== "") {
      // a model that does not stream: its text comes whole
      listener({ kind: "text", text: message.text });
    }
    progress.text = message.text;
    progress.partial = "";
    for (const call of message.tool_calls ?? []) {
      listener({
        kind: "tool_call",
        call: { id: call.id ?? "", name: call.name, args: call.args },
      });
    }
  }
}
