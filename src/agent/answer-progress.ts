import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";

import { type CallFacts, NO_FACTS } from "../core/calls.ts";
import { EVENT_RESULT_BYTES } from "../core/limits.ts";
import { callFactsOf, statusOf } from "../store/messages/call-facts.ts";
import { countOf } from "../store/messages/mirror-row.ts";
import { cutBeforeHalf } from "./whole-characters.ts";
import type { Report } from "../exchange/report-events.ts";

export type AnswerProgress = ReturnType<typeof createAnswerProgress>;

const NOT_RUN: EndedCall = { durationMs: 0, facts: NO_FACTS };

/** Text that had arrived of an answer; the id is the answer's. */
const NOTHING = { id: null as string | null, text: "" };

/** Follows the answers of an exchange, and reports them as events. */
export function createAnswerProgress(report: Report) {
  let text = "";
  let arrived = NOTHING;
  let half = "";
  return {
    /** Text of the last complete answer. */
    text: () => text,
    /** Text of the answer that is arriving, or broke off. */
    arrived: () => arrived,
    /** Called with each piece of text of an answer. */
    onText: (id: string, piece: string): void => {
      const before = arrived.id === id ? arrived.text : "";
      const given = arrived.id === id ? half + piece : piece;
      const cut = cutBeforeHalf(given);
      const { whole } = cut;
      half = cut.half;
      arrived = { id, text: before + whole };
      if (whole !== "") {
        report({ type: "text", message_id: id, text: whole });
      }
    },
    /** Called with a complete answer, and with each result of a tool and what is known of its call. */
    onMessage: (message: BaseMessage, call: EndedCall = NOT_RUN): void => {
      if (ToolMessage.isInstance(message)) {
        reportResult(report, message, call);
      } else if (AIMessage.isInstance(message)) {
        if (half !== "" && arrived.id !== null) {
          // the answer ends in the middle of a character
          report({ type: "text", message_id: arrived.id, text: half });
          half = "";
        }
        reportAnswer(report, message, { isReported: arrived.id === message.id });
        text = message.text;
        arrived = NOTHING;
      }
    },
  };
}

/** `isReported`: whether its text was reported as it arrived; a model may not stream. */
export function reportAnswer(
  report: Report,
  answer: AIMessage,
  { isReported }: { readonly isReported: boolean },
): void {
  const { id: message_id = "", text } = answer;
  if (text !== "" && !isReported) {
    report({ type: "text", message_id, text });
  }
  reportUsage(report, answer);
  const calls = answer.tool_calls ?? [];
  const facts = callFactsOf(answer, calls.length);
  for (const [at, { id: call_id = "", name, args }] of calls.entries()) {
    report({ type: "tool_call", message_id, call_id, name, args, ...(facts[at] ?? NO_FACTS) });
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
  const bytes = Buffer.from(result.text);
  report({
    type: "tool_result",
    call_id: result.tool_call_id,
    name: result.name ?? "",
    ...facts,
    status: statusOf(result) ?? "ok",
    // with `stream` an incomplete character at the end is left out
    content: new TextDecoder().decode(bytes.subarray(0, EVENT_RESULT_BYTES), { stream: true }),
    content_bytes: bytes.length,
    duration_ms: Math.round(durationMs),
  });
}
