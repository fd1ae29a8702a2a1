import type { MessageJson } from "../records/messages/message-json.ts";

/** Reasoning that a message holds. */
interface Reasoning {
  /** Empty if its provider did not show it. */
  readonly text: string;
  /** True if the provider keeps it encrypted, or left it out. */
  readonly is_hidden: boolean;
}

/** Reasoning of a message's model, in the form of each provider; null if it says nothing. */
export function reasoningOf(message: MessageJson): Reasoning | null {
  const { content, additional_kwargs, response_metadata } = message;
  const blocks = typeof content === "string" ? [] : content.filter(isReasoning);
  const items = listIn(response_metadata, "output").filter(isReasoning);
  const details = listIn(additional_kwargs, "reasoning_details");
  const summaries = items.flatMap((item) =>
    listIn(item, "summary").map((part) => textIn(part, "text")),
  );
  const beside = ["reasoning_content", "reasoning"].map((name) => textIn(additional_kwargs, name));
  const texts =
    summaries.length > 0
      ? summaries
      : [
          ...beside.filter((text) => text !== "").slice(0, 1),
          ...blocks.map((block) => textIn(block, "thinking") || textIn(block, "reasoning")),
        ];
  const text = texts.filter((each) => each !== "").join("\n\n");
  const is_hidden = text === "" && blocks.length + items.length + details.length > 0;
  return text === "" && !is_hidden ? null : { text, is_hidden };
}

/** `redacted_thinking` is encrypted. */
function isReasoning(block: unknown): boolean {
  return ["thinking", "redacted_thinking", "reasoning"].includes(textIn(block, "type"));
}

function listIn(from: unknown, name: string): readonly unknown[] {
  const value: unknown = isObject(from) ? Reflect.get(from, name) : null;
  return Array.isArray(value) ? value : [];
}

function textIn(from: unknown, name: string): string {
  const value: unknown = isObject(from) ? Reflect.get(from, name) : null;
  return typeof value === "string" ? value : "";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
