import { AIMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";

import { providerIdsOf } from "./call-ids.ts";

/** The ids of all tool calls in these messages, and those that their providers gave them. */
export function callIdsOf(messages: readonly BaseMessage[]): Set<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    for (const { id } of callsOf(message)) {
      ids.add(id ?? "");
    }
    for (const id of providerIdsOf(message) ?? []) {
      ids.add(id ?? "");
    }
  }
  return ids;
}

/**
 * Returns the answer with these calls alone, each for the one at its position in `earlier`. Calls in the content keep
 * their place among its other blocks: a model that thinks between two calls finds both in their order.
 */
export function withCalls(
  answer: AIMessage,
  calls: readonly ToolCall[],
  earlier: readonly Pick<ToolCall, "id">[] = callsOf(answer),
): AIMessage {
  const { tool_calls: _, ...additional_kwargs } = answer.additional_kwargs;
  const { id, content, response_metadata, usage_metadata } = answer;
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    content: typeof content === "string" ? content : contentWith(content, calls, earlier),
    additional_kwargs,
    response_metadata,
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_calls: calls.map(({ id = "", name, args }) => ({ id, name, args, type: "tool_call" })),
  });
}

type Blocks = Exclude<AIMessage["content"], string>;

function contentWith(
  content: Blocks,
  calls: readonly ToolCall[],
  earlier: readonly Pick<ToolCall, "id">[],
): Blocks {
  const left = earlier.map(({ id }, at) => ({ id, call: calls[at] }));
  return content.flatMap((block) => {
    if (block.type === "input_json_delta") {
      return [];
    }
    if (block.type !== "tool_use") {
      return [block];
    }
    // of calls with one id, each is taken once
    const at = left.findIndex(({ id }) => id === block["id"]);
    const call = at === -1 ? undefined : left.splice(at, 1)[0]?.call;
    return call === undefined
      ? []
      : [{ type: "tool_use", id: call.id, name: call.name, input: call.args }];
  });
}

/** The calls of an answer; none of any other message. */
export function callsOf(message: BaseMessage | undefined): readonly ToolCall[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}
