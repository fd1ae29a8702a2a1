import { BaseMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";

/** A value of a checkpoint as plain data: messages with their class, sends as they are stored. */
export function plain(value: unknown): unknown {
  if (BaseMessage.isInstance(value)) {
    return { class: value.constructor.name, shown: value.toDict(), json: value.toJSON() };
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (value instanceof Send) {
    return { node: value.node, args: plain(value.args) };
  }
  if (typeof value === "object" && value !== null && !(value instanceof Error)) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
  }
  return value;
}
