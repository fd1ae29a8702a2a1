import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import { distinctCalls, withCalls } from "./call-ids.ts";

/**
 * Messages as every provider takes them: without answers that say nothing and call nothing, which
 * models give now and then and Anthropic refuses to read again. Of an answer whose calls could not
 * be read, as older versions kept them without a result, the rest is sent. Each call id is sent only
 * once (`distinctCalls`).
 */
export function sendable(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  const sent: BaseMessage[] = [];
  for (const message of distinctCalls(messages)) {
    const readable = AIMessage.isInstance(message) ? readableAnswer(message) : message;
    if (readable !== null) {
      sent.push(readable);
    }
  }
  return sent;
}

function readableAnswer(answer: AIMessage): AIMessage | null {
  const { content, tool_calls = [], invalid_tool_calls = [] } = answer;
  if (invalid_tool_calls.length > 0) {
    return readableAnswer(withCalls(answer, tool_calls));
  }
  return tool_calls.length > 0 || !isEmpty(content) ? answer : null;
}

function isEmpty(content: AIMessage["content"]): boolean {
  return typeof content === "string"
    ? content.trim() === ""
    : content.every(({ type, text }) => type === "text" && String(text).trim() === "");
}
