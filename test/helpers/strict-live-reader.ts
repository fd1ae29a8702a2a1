import type { LiveEvent, TextPiece } from "../../src/core/schemas/live.ts";
import { codePoints } from "../../src/core/text/code-points.ts";

/** A client that believes nothing: it throws for text that does not continue what it has. */
export function createStrictReader() {
  const texts = new Map<string, string>();
  const messages: { readonly seq: number; readonly content: string }[] = [];
  let exchange: unknown = null;
  const add = ({ message_id, offset, text }: TextPiece): void => {
    const before = texts.get(message_id) ?? "";
    if (codePoints(before) !== offset || text === "" || !text.isWellFormed()) {
      throw new Error(`text at ${offset} after ${codePoints(before)} code points`);
    }
    texts.set(message_id, before + text);
  };
  return {
    texts,
    messages,
    exchange: () => exchange,
    take: ({ event, data }: LiveEvent): void => {
      switch (event) {
        case "snapshot":
          exchange = data.exchange;
          if (data.text !== null) {
            add(data.text);
          }
          return;
        case "text":
          add(data);
          return;
        case "reset":
          if (!texts.delete(data.message_id)) {
            throw new Error("nothing to reset");
          }
          return;
        case "exchange":
          exchange = data;
          return;
        case "message": {
          const text = texts.get(data.message_id);
          texts.delete(data.message_id);
          if (text !== undefined && text !== data.content) {
            throw new Error("the text that arrived is not the content of the message");
          }
          messages.push(data);
          return;
        }
        case "reasoning":
          if (texts.has(data.message_id)) {
            throw new Error("reasoning after the text of its answer");
          }
          break;
        case "output":
          if (!data.text.isWellFormed()) {
            throw new Error("an output ends within a character");
          }
          break;
        case "question":
        case "phase":
        case "tool_call":
        case "usage":
        case "retry":
          break;
      }
    },
  };
}
