import { CALL_EXTRAS, REASONING_DETAILS } from "../models/chat-extras.ts";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";

/** Blocks that providers bind to what came before them. `reasoning_content` of compatible servers is not bound. */
const BOUND: ReadonlySet<string> = new Set(["thinking", "redacted_thinking", "reasoning"]);

/** Their place in `additional_kwargs`. */
const BESIDE: readonly string[] = ["reasoning", REASONING_DETAILS, CALL_EXTRAS];

export function hasReasoning(message: BaseMessage): message is AIMessage {
  return (
    AIMessage.isInstance(message) &&
    ("output" in message.response_metadata ||
      BESIDE.some((name) => name in message.additional_kwargs) ||
      (typeof message.content !== "string" && message.content.some(({ type }) => BOUND.has(type))))
  );
}

/** Returns the answer without the blocks that only its provider can read, and only after an unchanged prefix. */
export function withoutReasoning(answer: AIMessage): AIMessage {
  const { id, content, tool_calls = [], usage_metadata } = answer;
  const { output: _output, ...response_metadata } = answer.response_metadata;
  const additional_kwargs = Object.fromEntries(
    Object.entries(answer.additional_kwargs).filter(([name]) => !BESIDE.includes(name)),
  );
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    content: typeof content === "string" ? content : content.filter(({ type }) => !BOUND.has(type)),
    additional_kwargs,
    response_metadata,
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_calls,
  });
}
