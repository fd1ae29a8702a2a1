import type { LiveEvent } from "../../core/live.ts";
import type { ExchangeInfo, QuestionInfo } from "../../core/schemas.ts";

/** What a client that follows one exchange is shown, in order. */
export type ExchangeStep =
  /** A piece of the answer `message_id`; the first one begins it. */
  | { readonly type: "text"; readonly message_id: string; readonly text: string }
  /** The answer is stored; or it is void, and comes again with another id. */
  | { readonly type: "text_end"; readonly message_id: string; readonly is_void: boolean }
  | { readonly type: "call"; readonly message_id: string; readonly call: ToolCall }
  | { readonly type: "result"; readonly message: LiveMessage; readonly call_id: string }
  /** After the call that asks, if it is a call of this session. */
  | { readonly type: "question"; readonly question: QuestionInfo; readonly has_call: boolean };

type LiveMessage = Extract<LiveEvent, { event: "message" }>["data"];
type ToolCall = NonNullable<LiveMessage["tool_calls"]>[number];

export interface ExchangeSteps {
  /** True once nothing of the exchange follows, unless it is continued. */
  readonly isOver: boolean;
  /** What an event of the session means for the exchange. */
  of(event: LiveEvent): readonly ExchangeStep[];
}

/**
 * Follows one exchange on the live feed of its session, archived messages included. `after_seq` is the position at
 * which the feed begins: before the exchange's first message, or later if the client has the messages until there,
 * with their `calls`.
 */
export function createExchangeSteps({
  n,
  after_seq,
  calls: known,
}: {
  readonly n: number;
  readonly after_seq: number;
  readonly calls: readonly string[];
}): ExchangeSteps {
  const calls = new Set(known);
  const questions = new Map<string, QuestionInfo>();
  const asked = new Set<string>();
  /** The answer that arrives. */
  let open: string | null = null;
  let seq = after_seq;
  /** The exchange is over once the messages up to this one have come. */
  let until: number | null = null;
  let hasAnswer = false;
  let isOver = false;

  const text = (message_id: string, piece: string): ExchangeStep[] => {
    const steps = open === message_id ? [] : endText(true);
    open = message_id;
    return [...steps, { type: "text", message_id, text: piece }];
  };
  const endText = (is_void: boolean): ExchangeStep[] => {
    const message_id = open;
    open = null;
    return message_id === null ? [] : [{ type: "text_end", message_id, is_void }];
  };
  const ask = (which: (question: QuestionInfo) => boolean): ExchangeStep[] =>
    [...questions.values()].filter(which).map((question) => {
      questions.delete(question.id);
      asked.add(question.id);
      return { type: "question", question, has_call: calls.has(question.call_id) };
    });
  const askOfCalls = (): ExchangeStep[] => ask(({ call_id }) => calls.has(call_id));
  const note = (question: QuestionInfo): void => {
    if (question.state !== "open") {
      questions.delete(question.id);
    } else if (question.kind !== "messages" && !asked.has(question.id)) {
      questions.set(question.id, question);
    }
  };
  const finish = (): ExchangeStep[] => {
    if (until === null || seq < until) {
      return [];
    }
    isOver = true;
    return [...endText(true), ...ask(() => true)];
  };
  const stored = (message: LiveMessage): ExchangeStep[] => {
    const { message_id, role, content, is_summary, tool_calls, call_id } = message;
    ({ seq } = message);
    if (role === "user" && hasAnswer) {
      // the next exchange has begun
      until = seq;
      return [];
    }
    if (role === "tool" && call_id !== null) {
      return [{ type: "result", message, call_id }];
    }
    if (role !== "assistant" || is_summary) {
      return [];
    }
    hasAnswer = true;
    const begun = open === message_id || content === "" ? [] : text(message_id, content);
    const made = (tool_calls ?? []).map((call) => ({ type: "call" as const, message_id, call }));
    for (const { call } of made) {
      calls.add(call.id);
    }
    return [...begun, ...endText(false), ...made, ...askOfCalls()];
  };
  const exchange = (now: ExchangeInfo | null, last_seq: number): void => {
    const isAtWork = now === null || now.state === "queued" || now.state === "running";
    if (now !== null && (now.n > n || (now.n === n && !isAtWork))) {
      until = last_seq;
    }
  };
  const steps = (event: LiveEvent): readonly ExchangeStep[] => {
    switch (event.event) {
      case "snapshot": {
        const { data } = event;
        data.questions.forEach(note);
        exchange(data.exchange, data.last_seq);
        return data.text === null ? [] : text(data.text.message_id, data.text.text);
      }
      case "text":
        return text(event.data.message_id, event.data.text);
      case "reset":
        return open === event.data.message_id ? endText(true) : [];
      case "message":
        return stored(event.data);
      case "question":
        note(event.data);
        return askOfCalls();
      case "exchange":
        // all that it did was sent before
        exchange(event.data, seq);
        return [];
      default:
        return [];
    }
  };

  return {
    get isOver() {
      return isOver;
    },
    of: (event) => (isOver ? [] : [...steps(event), ...finish()]),
  };
}
