import type { MessageInfo } from "../../src/entries/client.ts";
import { isReading, type ToolCall } from "./call-text.ts";
import { type Card, cardAt, type MessageSource } from "./exchange/card.ts";
import { PAGE_SIZE } from "./message-cache.ts";

/** A call with its result: null if there is none, undefined if it was not read yet. */
export interface StoredCall {
  readonly call: ToolCall;
  /** Id of the answer that made it. */
  readonly answer: string;
  /** When its answer was stored, as ISO text. */
  readonly asked_at: string;
  readonly result: MessageInfo | null | undefined;
}

/** What the transcript shows at one `seq`. */
export type Row =
  /** It was not read yet. */
  | { readonly kind: "absent" }
  /** Another row shows it. */
  | { readonly kind: "hidden"; readonly card: Card | null }
  | {
      readonly kind: "message";
      readonly card: Card | null;
      readonly message: MessageInfo;
      /** Those of the message, and of reading ones after it that belong to the same group. */
      readonly calls: readonly StoredCall[];
    };

export type StoredRow = Extract<Row, { kind: "message" }>;

/** The answers after that of a row whose calls joined its group, by their ids. */
export function joinedAnswers({ message, calls }: StoredRow): readonly string[] {
  return [...new Set(calls.map(({ answer }) => answer))].filter((id) => id !== message.message_id);
}

/** The last message that a row shows: results and reading calls belong to it. */
export function lastSeqOf({ message, calls }: StoredRow): number {
  return calls.reduce((last, { result }) => Math.max(last, result?.seq ?? 0), message.seq);
}

/** Messages between a call and its result at most: others may leave messages while an agent works. */
const MAX_BETWEEN = 2 * PAGE_SIZE;

/** What the row of a message shows. Groups end with a page of messages, so that no row depends on what is far away. */
export function rowOf(seq: number, source: MessageSource): Row {
  const message = source.get(seq);
  const card = cardAt(seq, source);
  // an answer is shown before it is known where its work begins
  const isText = message?.role === "assistant" && !(message.tool_calls ?? []).length;
  if (message === undefined || (card === undefined && !isText)) {
    return ABSENT;
  }
  const content = contentOf(message, source);
  return content === "absent"
    ? ABSENT
    : content === "hidden"
      ? { kind: "hidden", card: card ?? null }
      : { kind: "message", message, calls: content, card: card ?? null };
}

const ABSENT: Row = { kind: "absent" };

/** The calls that the row of a message shows; or that it is not shown, or not yet. */
function contentOf(
  message: MessageInfo,
  source: MessageSource,
): readonly StoredCall[] | "absent" | "hidden" {
  const { seq } = message;
  if (message.role === "tool") {
    return resultRow(message, source);
  }
  if (message.role !== "assistant" || message.tool_calls === null) {
    return [];
  }
  if (continuesGroup(message, source)) {
    return "hidden";
  }
  const calls = [...storedCalls(message, source)];
  if (isOnlyReading(message)) {
    for (let at = seq + 1; at <= pageEnd(seq) && at <= source.last; at += 1) {
      const next = source.get(at);
      if (next?.role === "assistant" && isContinuation(next)) {
        calls.push(...storedCalls(next, source));
      } else if (next?.role !== "tool") {
        break;
      }
    }
  }
  return calls;
}

function resultRow(message: MessageInfo, source: MessageSource): [] | "absent" | "hidden" {
  for (let at = message.seq - 1; at > Math.max(0, message.seq - MAX_BETWEEN); at -= 1) {
    const before = source.get(at);
    if (before === undefined) {
      return "absent";
    }
    if (before.role === "assistant") {
      const isShown = before.tool_calls?.some(({ id }) => id === message.call_id) === true;
      return isShown ? "hidden" : [];
    }
  }
  return [];
}

function storedCalls(message: MessageInfo, source: MessageSource): StoredCall[] {
  const calls = message.tool_calls ?? [];
  const results: MessageInfo[] = [];
  let isComplete = true;
  const end = Math.min(source.last, message.seq + calls.length + MAX_BETWEEN);
  for (let at = message.seq + 1; at <= end && results.length < calls.length; at += 1) {
    const next = source.get(at);
    if (next === undefined) {
      isComplete = false;
      break;
    }
    if (next.role === "assistant") {
      break;
    }
    if (next.role === "tool" && calls.some(({ id }) => id === next.call_id)) {
      results.push(next);
    }
  }
  return calls.map((call) => {
    const at = results.findIndex(({ call_id }) => call_id === call.id);
    // a result is that of one call, whatever ids a model gives
    const [found] = at < 0 ? [] : results.splice(at, 1);
    return {
      call,
      answer: message.message_id,
      asked_at: message.ts,
      result: found ?? (isComplete ? null : undefined),
    };
  });
}

function isOnlyReading({ tool_calls }: MessageInfo): boolean {
  return tool_calls !== null && tool_calls.length > 0 && tool_calls.every(isReading);
}

/** A message that says nothing and only reads. */
function isContinuation(message: MessageInfo): boolean {
  return message.content.trim() === "" && isOnlyReading(message);
}

function continuesGroup(message: MessageInfo, source: MessageSource): boolean {
  if (!isContinuation(message)) {
    return false;
  }
  for (let at = message.seq - 1; at > pageEnd(message.seq) - PAGE_SIZE; at -= 1) {
    const before = source.get(at);
    if (before?.role === "assistant") {
      return isOnlyReading(before);
    }
    if (before?.role !== "tool") {
      return false;
    }
  }
  return false;
}

function pageEnd(seq: number): number {
  return Math.ceil(seq / PAGE_SIZE) * PAGE_SIZE;
}
