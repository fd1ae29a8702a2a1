import { NO_FACTS } from "../../../core/calls.ts";
import { MAX_COUNTED_TOKENS } from "../../../core/cost/model-calls.ts";
import { RepriseError } from "../../../core/errors.ts";
import type { MadeCall, Role, ToolCall } from "../../../core/sessions.ts";
import { estimateTokens, storableReplacer, storableText } from "../../../core/text/text.ts";
import { callFactsOf, keptStatusOf, statusOf } from "./call-facts.ts";
import type { MessageJson } from "./message-json.ts";
import type { MirrorMessage } from "./mirror-message.ts";
import { isMarkedSummary, sentPositions } from "./summary.ts";

/** Tokens of the message at a position: what was counted once need not be counted again. */
export type TokensAt = (index: number) => number;

/**
 * The mirror row of a thread's message, a pure function of the messages up to it, so that everyone
 * who verifies the mirror can compute the rows again from a checkpoint. Null for what has no row: a
 * message without an id, a removal.
 *
 * - `content` is the message's text: of content blocks, those of text, joined.
 * - `token_count` of an answer is the provider's `output_tokens`, everything else is an estimate
 *   of the text and of the tool calls' JSON.
 * - `usage` of an answer is the provider's; if it gave none, the estimates of what was sent and
 *   of the answer.
 *
 * Error codes: `agent_failed` for an id that is not a text, which only a program can give a message.
 */
export function mirrorOf(
  messages: readonly MessageJson[],
  index: number,
  tokensAt: TokensAt = (position) => tokenCountOf(messages[position]),
): MirrorMessage | null {
  const message = messages[index];
  const role = message === undefined ? null : roleOf(message);
  if (message?.id === undefined || role === null) {
    return null;
  }
  return {
    message_id: textId(message.id),
    role,
    content: textOf(message),
    tool_calls: toolCallsOf(message),
    token_count: tokensAt(index),
    is_summary: isMarkedSummary(message),
    ...(role === "tool" ? resultOf(message) : {}),
    usage: isAnswer(message) ? usageOf(message, { messages, index, tokensAt }) : null,
  };
}

function resultOf(message: MessageJson): Pick<MirrorMessage, "call_id" | "status" | "isMarked"> {
  const { tool_call_id } = message;
  return {
    ...(typeof tool_call_id === "string" ? { call_id: storableText(tool_call_id) } : {}),
    status: statusOf(message),
    ...(keptStatusOf(message) === null ? {} : { isMarked: true }),
  };
}

function textId(id: unknown): string {
  if (typeof id !== "string") {
    throw new RepriseError(
      "agent_failed",
      "The agent made a message whose id is not a text. Give its messages texts as ids, or none.",
    );
  }
  return storableText(id);
}

/** Tokens of one message, by the provider's count if it is an answer that has one. */
export function tokenCountOf(message: MessageJson | undefined): number {
  if (message === undefined) {
    return 0;
  }
  const counted = isAnswer(message) ? countOf(message.usage_metadata?.output_tokens) : null;
  if (counted !== null) {
    return counted;
  }
  // facts of the calls are sent to no provider
  const calls = madeCallsOf(message);
  return estimateTokens(textOf(message) + (calls === null ? "" : JSON.stringify(calls)));
}

function usageOf(
  answer: MessageJson,
  {
    messages,
    index,
    tokensAt,
  }: { messages: readonly MessageJson[]; index: number; tokensAt: TokensAt },
): MirrorMessage["usage"] {
  const output_tokens = tokensAt(index);
  const sent = countOf(answer.usage_metadata?.input_tokens);
  if (sent !== null) {
    return { input_tokens: sent, output_tokens };
  }
  let input_tokens = 0;
  for (const before of sentPositions(messages, index)) {
    input_tokens += tokensAt(before);
  }
  return { input_tokens, output_tokens };
}

/** A provider's count of tokens; null for anything but a whole number from 0 to `MAX_COUNT`. */
export function countOf(value: unknown): number | null {
  const isCount =
    Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNTED_TOKENS;
  return isCount ? Number(value) : null;
}

function roleOf(message: MessageJson): Role | null {
  switch (message.type) {
    case "human":
      return "user";
    case "ai":
      return "assistant";
    case "tool":
    case "function":
      return "tool";
    case "remove":
      return null;
    default:
      return "system";
  }
}

export function isAnswer(message: MessageJson): boolean {
  return message.type === "ai";
}

function textOf(message: MessageJson): string {
  const { content } = message;
  if (typeof content === "string") {
    return storableText(content);
  }
  return storableText(content.map(textOfBlock).join(""));
}

function textOfBlock(block: unknown): string {
  if (typeof block === "string") {
    return block;
  }
  const isText =
    typeof block === "object" &&
    block !== null &&
    "type" in block &&
    block.type === "text" &&
    "text" in block;
  return isText && typeof block.text === "string" ? block.text : "";
}

function toolCallsOf(message: MessageJson): ToolCall[] | null {
  const calls = madeCallsOf(message);
  const facts = calls === null ? [] : callFactsOf(message, calls.length);
  return calls?.map((call, at) => ({ ...call, ...(facts[at] ?? NO_FACTS) })) ?? null;
}

function madeCallsOf(message: MessageJson): MadeCall[] | null {
  const calls = isAnswer(message) ? (message.tool_calls ?? []) : [];
  return calls.length === 0
    ? null
    : calls.map(({ id, name, args }) => ({
        id: storableText(id ?? ""),
        name: storableText(name),
        args: JSON.parse(JSON.stringify(args ?? null, storableReplacer)) as unknown,
      }));
}
