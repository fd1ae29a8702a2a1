import { AIMessage, type BaseMessage } from "@langchain/core/messages";

/** Blocks that providers bind to what came before them. `reasoning_content` of compatible servers is not bound. */
const BOUND: ReadonlySet<string> = new Set(["thinking", "redacted_thinking", "reasoning"]);

export function hasReasoning(message: BaseMessage): message is AIMessage {
  return (
    AIMessage.isInstance(message) &&
    ("output" in message.response_metadata ||
      "reasoning" in message.additional_kwargs ||
      (typeof message.content !== "string" && message.content.some(({ type }) => BOUND.has(type))))
  );
}

/** Returns the answer without the blocks that only its provider can read, and only after an unchanged prefix. */
export function withoutReasoning(answer: AIMessage): AIMessage {
  const { id, content, tool_calls = [], usage_metadata } = answer;
  const { output: _output, ...response_metadata } = answer.response_metadata;
  const { reasoning: _reasoning, ...additional_kwargs } = answer.additional_kwargs;
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    content: typeof content === "string" ? content : content.filter(({ type }) => !BOUND.has(type)),
    additional_kwargs,
    response_metadata,
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_calls,
  });
}
