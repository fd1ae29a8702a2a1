import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import { type ModelApi, textIn } from "./answer-end.ts";

/**
 * Messages as an API takes them: the answers of others as text and calls alone. Their blocks, and their reasoning, mean
 * nothing to it, and LangChain's conversions drop calls or fail on them. The messages of the thread stay unchanged.
 */
export function sentTo(api: ModelApi, messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.map((message) =>
    AIMessage.isInstance(message) && !isOwn(api, message) ? plain(message, api) : message,
  );
}

function isOwn(api: ModelApi, message: AIMessage): boolean {
  switch (api) {
    case "responses":
      return replayed(message) !== null;
    case "anthropic":
      return (
        typeof message.content === "string" ||
        textIn(message.response_metadata, "model_provider") === "anthropic"
      );
    default:
      return typeof message.content === "string";
  }
}

function plain({ id, text, tool_calls = [] }: AIMessage, api: ModelApi): AIMessage {
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    // Responses has a message and its calls as separate items
    content: text === "" && api === "responses" ? [] : text,
    tool_calls,
  });
}

/** An item of a response, such as a message or a call. */
type Item = Readonly<Record<string, unknown>>;

const ITEMS: readonly unknown[] = ["message", "reasoning", "function_call"];

/**
 * The items of an answer of the Responses API as they are sent back, each unchanged; null if it has none, or others
 * than its message has. Reasoning is only in them: what LangChain collects from the stream joins the encrypted texts of
 * several items, which the API refuses.
 */
export function replayed({
  response_metadata,
  tool_calls = [],
}: AIMessage): readonly Item[] | null {
  const output: unknown = Reflect.get(response_metadata, "output");
  const items = Array.isArray(output) ? output.filter(isItem) : [];
  if (items.length === 0 || items.length !== lengthOf(output)) {
    return null;
  }
  const calls = items.filter(({ type }) => type === "function_call");
  const areSame =
    calls.length === tool_calls.length &&
    calls.every(({ call_id }, at) => call_id === tool_calls[at]?.id) &&
    calls.every(hasWholeArguments);
  return areSame ? withoutLoneReasoning(items) : null;
}

/** Reasoning is refused if nothing follows it, and without its encrypted text, because OpenAI stores none. */
function withoutLoneReasoning(items: readonly Item[]): readonly Item[] {
  const end = items.findLastIndex(({ type }) => type !== "reasoning") + 1;
  return items.slice(0, end).filter((item) => item["type"] !== "reasoning" || isEncrypted(item));
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** A message of another role would have more authority than an answer; a file that was imported could have one. */
function isItem(item: unknown): item is Item {
  const type = textIn(item, "type");
  return ITEMS.includes(type) && (type !== "message" || textIn(item, "role") === "assistant");
}

function isEncrypted(item: Item): boolean {
  return textIn(item, "encrypted_content") !== null;
}

/** False for a call whose arguments its message has not: see `sanitizeAnswer`. */
function hasWholeArguments(call: Item): boolean {
  try {
    const args: unknown = JSON.parse(textIn(call, "arguments") ?? "{}");
    return typeof args === "object" && args !== null && !Array.isArray(args);
  } catch {
    return false;
  }
}
