import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import { SUMMARY_TASK } from "../src/agent/summary-prompt.ts";

/** Bytes of a question, and of an answer. */
export const MESSAGE_BYTES = 500;
/** Bytes of a tool's result. */
export const RESULT_BYTES = 4096;
/** Tools that an exchange calls, one after the other. */
export const TOOL_ROUNDS = 3;

export function questionOf(index: number): string {
  return paddedText(`question ${index}`);
}

/**
 * What the instant model says: calls of `read_file` first, then its answer; the summary if it is
 * asked for one. It reports its usage, as every provider does.
 */
export function answerOf(messages: readonly BaseMessage[], rounds: number): AIMessage {
  const since = messages.length - messages.findLastIndex(({ type }) => type === "human");
  const round = Math.floor((since - 1) / 2);
  const fields =
    round >= rounds || messages[0]?.text.startsWith(SUMMARY_TASK)
      ? { content: paddedText(`answer ${crypto.randomUUID()}`) }
      : { content: "", tool_calls: [callOf(round)] };
  const input_tokens = messages.reduce((sum, { content }) => sum + content.length / 4, 0);
  const usage = { input_tokens: Math.ceil(input_tokens), output_tokens: 125 };
  return new AIMessage({
    ...fields,
    usage_metadata: { ...usage, total_tokens: usage.input_tokens + usage.output_tokens },
  });
}

function callOf(round: number) {
  return { id: crypto.randomUUID(), name: "read_file", args: { path: fileOf(round) } };
}

export function fileOf(round: number): string {
  return `file-${round}.txt`;
}

/** A file of `RESULT_BYTES`, unlike any other: the same text would be stored once. */
export function fileText(name: string): string {
  const line = paddedText(name, RESULT_BYTES / 32 - 1);
  return `${line}\n`.repeat(32);
}

function paddedText(text: string, bytes = MESSAGE_BYTES): string {
  return text.padEnd(bytes, " lorem ipsum dolor sit amet");
}
