import { storableText } from "../../core/text/text.ts";
import { type MessageJson, readMessage } from "../records/messages/message-json.ts";
import type { Operation } from "../store.ts";
import { readVerification } from "./read.ts";

/**
 * Reads what models thought of the answers of a session, by the ids of their messages: no row of a message has it. Of
 * an answer whose provider did not show it there is none.
 *
 * Error codes: `session_not_found`.
 */
export const readReasoning: Operation<
  { readonly session_id: string },
  ReadonlyMap<string, string>
> = async (tx, { session_id }) => {
  const { threads } = await readVerification(tx, { session_id, removed: true });
  const found = new Map<string, string>();
  for (const { messages, others } of threads) {
    for (const { body } of [...messages, ...(others ?? [])]) {
      const message = readMessage(body);
      const text = message === null ? "" : reasoningOf(message);
      if (text !== "") {
        found.set(storableText(message?.id ?? ""), text);
      }
    }
  }
  return found;
};

/** What a message says of its model's reasoning, in the form of each provider; empty if it says nothing. */
function reasoningOf({ content, additional_kwargs, response_metadata = {} }: MessageJson): string {
  const blocks = typeof content === "string" ? [] : content;
  const output: unknown = Reflect.get(response_metadata, "output");
  const items: readonly unknown[] = Array.isArray(output) ? output : [];
  const summaries = items.flatMap((item) => {
    const summary: unknown = isObject(item) ? Reflect.get(item, "summary") : null;
    return Array.isArray(summary) ? summary.map((part) => textIn(part, "text")) : [];
  });
  const texts =
    summaries.length > 0
      ? summaries
      : [
          textIn(additional_kwargs, "reasoning_content") || textIn(additional_kwargs, "reasoning"),
          ...blocks.map((block) => textIn(block, "thinking") || textIn(block, "reasoning")),
        ];
  return texts.filter((text) => text !== "").join("\n\n");
}

function textIn(from: unknown, name: string): string {
  const value: unknown = isObject(from) ? Reflect.get(from, name) : null;
  return typeof value === "string" ? value : "";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
