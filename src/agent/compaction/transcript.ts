import { type BaseMessage, ToolMessage } from "@langchain/core/messages";

import { callsOf } from "../messages/message-calls.ts";
import { estimateTokens } from "../../core/text/text.ts";

/** Characters of a tool's result, or of a call's arguments, that a summary is made of. */
const TOOL_CHARACTERS = 4000;

/**
 * The messages as text for the summary, in parts of about `tokens` each at most. One line of JSON
 * for each message: a result that pretends to be a user's words stays a result. Long results lose
 * their middle, because a summary keeps none of it.
 */
export function transcriptParts(messages: readonly BaseMessage[], tokens: number): string[] {
  const parts: string[][] = [];
  let left = 0;
  for (const message of messages) {
    for (const line of linesOf(message, Math.floor(tokens))) {
      const size = estimateTokens(line);
      if (parts.length === 0 || size > left) {
        parts.push([]);
        left = tokens;
      }
      parts.at(-1)?.push(line);
      left -= size;
    }
  }
  return parts.map((lines) => `${lines.join("\n")}\n`);
}

/** A text of more characters than `longest` comes in several lines. */
function linesOf(message: BaseMessage, longest: number): string[] {
  if (ToolMessage.isInstance(message)) {
    return [JSON.stringify({ result_of: message.name ?? "a tool", text: shortened(message.text) })];
  }
  const role = ROLES.get(message.type) ?? "system";
  const texts = piecesOf(message.text, longest).map((text) => JSON.stringify({ role, text }));
  return [
    ...texts,
    ...callsOf(message).map(({ name, args }) =>
      JSON.stringify({ calls: name, with: shortened(JSON.stringify(args)) }),
    ),
  ];
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
]);

function piecesOf(text: string, length: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += length) {
    pieces.push(text.slice(start, start + length).toWellFormed());
  }
  return pieces;
}

function shortened(text: string): string {
  const left = text.length - TOOL_CHARACTERS;
  if (left <= 0) {
    return text;
  }
  const half = TOOL_CHARACTERS / 2;
  return `${text.slice(0, half)} [… ${left} characters left out …] ${text.slice(-half)}`.toWellFormed();
}
