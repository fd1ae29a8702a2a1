import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";

import { type CallFacts, NO_FACTS } from "../../core/calls.ts";
import {
  EVENT_REASONING_BYTES,
  EVENT_REASONING_SIGN_MS,
  EVENT_RESULT_BYTES,
} from "../../core/limits.ts";
import { cutToBytes } from "../../core/text/cut-to-bytes.ts";
import { callFactsOf, statusOf } from "../../store/records/messages/call-facts.ts";
import { countOf } from "../../store/records/messages/mirror-row.ts";
import { endOf } from "../models/answer-end.ts";
import { isUnfinished } from "./ended-answer.ts";
import { CacheUse } from "./cache-use.ts";
import type { Heard } from "./token-stream.ts";
import { cutBeforeHalf } from "./whole-characters.ts";
import type { Report } from "../../exchange/report-events.ts";

export type AnswerProgress = ReturnType<typeof createAnswerProgress>;

const NOT_RUN: EndedCall = { durationMs: 0, facts: NO_FACTS };

/** Texts of answers, and what their models think before, reported as they are written. */
export class ArrivingText implements Heard {
  readonly #report: Report;
  /** By the ids of the answers. */
  readonly #written = new Map<string, string>();
  readonly #halves = new Map<string, string>();
  /** UTF-8 bytes of reasoning that are still reported, by the ids of the answers. */
  readonly #reasoned = new Map<string, number>();
  readonly #reasonedHalves = new Map<string, string>();
  readonly #now: () => number;
  /** When reasoning was reported last, in milliseconds. */
  #reasonedAt = 0;
  #last: string | null = null;

  constructor(report: Report, now: () => number = () => performance.now()) {
    this.#report = report;
    this.#now = now;
  }

  readonly onText = (message_id: string, piece: string): void => {
    const { whole: text, half } = cutBeforeHalf((this.#halves.get(message_id) ?? "") + piece);
    this.#written.set(message_id, (this.#written.get(message_id) ?? "") + text);
    this.#halves.set(message_id, half);
    this.#last = message_id;
    if (text !== "") {
      this.#report({ type: "text", message_id, text });
    }
  };

  readonly onReasoning = (message_id: string, piece: string): void => {
    const left = this.#reasoned.get(message_id);
    const { whole, half } = cutBeforeHalf((this.#reasonedHalves.get(message_id) ?? "") + piece);
    this.#reasonedHalves.set(message_id, half);
    const max = left ?? EVENT_REASONING_BYTES;
    const rest = max - Buffer.byteLength(whole);
    this.#reasoned.set(message_id, Math.max(0, rest));
    const isNew = left === undefined || (left > 0 && whole !== "");
    // who follows it does not take a long thought for silence
    if (isNew || this.#now() - this.#reasonedAt >= EVENT_REASONING_SIGN_MS) {
      const text = rest < 0 ? `${cutToBytes(whole, max)}…` : whole;
      this.#reasonedAt = this.#now();
      this.#report({ type: "reasoning", message_id, text: isNew ? text : "" });
    }
  };

  /** True if something of the answer has arrived. */
  has(id: string): boolean {
    return this.#written.has(id);
  }

  /** True if text or reasoning of the answer was reported. */
  isShown(id: string): boolean {
    const left = this.#reasoned.get(id) ?? EVENT_REASONING_BYTES;
    return (this.#written.get(id) ?? "") !== "" || left < EVENT_REASONING_BYTES;
  }

  /** True if a model has written this text. */
  hasText(text: string): boolean {
    return [...this.#written].some(([id, whole]) => whole + (this.#halves.get(id) ?? "") === text);
  }

  /** The answer that is arriving, or broke off; null if the last one is complete. */
  broken(): { readonly id: string; readonly text: string } | null {
    const id = this.#last;
    return id === null ? null : { id, text: this.#written.get(id) ?? "" };
  }

  /** Reports a complete answer; `isReported` is true if its text was reported under another id. */
  complete(answer: AIMessage, { isReported }: { readonly isReported: boolean }): void {
    const { id: message_id = "" } = answer;
    const half = this.#halves.get(message_id) ?? "";
    if (half !== "") {
      // the answer ends in the middle of a character
      this.#report({ type: "text", message_id, text: half });
    }
    reportAnswer(this.#report, answer, { isReported: isReported || this.has(message_id) });
    this.#last = null;
  }
}

/**
 * Follows the answers of an exchange, and reports them as events. `before` is the text of an unfinished answer
 * that the first one continues.
 */
export function createAnswerProgress(report: Report, before = "") {
  const arriving = new ArrivingText(report);
  const cache = new CacheUse();
  let text = before;
  let last: AIMessage | undefined;
  return {
    arriving,
    /** Text of the last complete answer, after that of the answers which it continues. */
    text: () => text,
    /** The last complete answer. */
    last: () => last,
    /** Called with a complete answer, and with each result of a tool and what is known of its call. */
    onMessage: (message: BaseMessage, call: EndedCall = NOT_RUN): void => {
      if (ToolMessage.isInstance(message)) {
        reportResult(report, message, call);
      } else if (AIMessage.isInstance(message)) {
        arriving.complete(message, { isReported: false });
        text = last === undefined || isUnfinished(last) ? text + message.text : message.text;
        last = message;
        cache.add(message);
        reportCache(report, cache, message);
      }
    },
  };
}

/** Says after the last answer of an exchange if the provider's cache was of little use. */
function reportCache(report: Report, cache: CacheUse, { tool_calls = [] }: AIMessage): void {
  const sentence = tool_calls.length === 0 ? cache.takeSentence() : null;
  if (sentence !== null) {
    report({ type: "notice", sentence });
  }
}

/** `isReported`: whether its text was reported as it arrived; a model may not stream. */
function reportAnswer(
  report: Report,
  answer: AIMessage,
  { isReported }: { readonly isReported: boolean },
): void {
  const { id: message_id = "", text } = answer;
  if (text !== "" && !isReported) {
    report({ type: "text", message_id, text });
  }
  reportUsage(report, answer);
  reportEnd(report, answer);
  const calls = answer.tool_calls ?? [];
  const facts = callFactsOf(answer, calls.length);
  for (const [at, { id: call_id = "", name, args }] of calls.entries()) {
    report({ type: "tool_call", message_id, call_id, name, args, ...(facts[at] ?? NO_FACTS) });
  }
}

/** Reports an answer that may not be whole although the exchange does not fail. */
function reportEnd(report: Report, answer: AIMessage): void {
  const { end, reason } = endOf(answer);
  if (end === "unknown") {
    const why = reason === null ? "a reason" : `the reason "${reason}"`;
    const sentence = `The provider ended this answer for ${why}, which Reprise does not know; it may not be whole.`;
    report({ type: "notice", sentence });
  }
}

/**
 * Reports what the provider counted for an answer or a summary, if it did and the counts are valid.
 */
export function reportUsage(report: Report, { id = "", usage_metadata: usage }: AIMessage): void {
  const input_tokens = countOf(usage?.input_tokens);
  const output_tokens = countOf(usage?.output_tokens);
  if (input_tokens !== null && output_tokens !== null) {
    report({ type: "usage", message_id: id, input_tokens, output_tokens });
  }
}

/** Facts of a call that has a result, and how long its tool ran. */
export interface EndedCall {
  readonly durationMs: number;
  readonly facts: CallFacts;
}

/** Reports the result of a call. */
export function reportResult(
  report: Report,
  result: ToolMessage,
  { durationMs, facts }: EndedCall,
): void {
  const { text } = result;
  report({
    type: "tool_result",
    call_id: result.tool_call_id,
    name: result.name ?? "",
    ...facts,
    status: statusOf(result) ?? "ok",
    content: cutToBytes(text, EVENT_RESULT_BYTES),
    content_bytes: Buffer.byteLength(text),
    duration_ms: Math.round(durationMs),
  });
}
