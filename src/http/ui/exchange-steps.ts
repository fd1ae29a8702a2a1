import type { LiveEvent } from "../../core/live.ts";
import type { MessageInfo, QuestionInfo } from "../../core/schemas.ts";

/** What a client that follows one exchange is shown, in order. */
export type ExchangeStep =
  /** A piece of the answer `message_id`; the first one begins it. */
  | { readonly type: "text"; readonly message_id: string; readonly text: string }
  /** The answer is stored; or it is void, and comes again with another id. */
  | { readonly type: "text_end"; readonly message_id: string; readonly is_void: boolean }
  | { readonly type: "call"; readonly message_id: string; readonly call: ToolCall }
  | { readonly type: "result"; readonly message: MessageInfo; readonly call_id: string }
  /** After the call that asks, if it is a call of this session. */
  | { readonly type: "question"; readonly question: QuestionInfo; readonly has_call: boolean };

type ToolCall = NonNullable<MessageInfo["tool_calls"]>[number];

export interface ExchangeSteps {
  /** What an event of the session means for the exchange. */
  of(event: LiveEvent): readonly ExchangeStep[];
  /** What comes last, of an exchange that waits for answers or has ended. */
  end(isWaiting: boolean): readonly ExchangeStep[];
}

/**
 * Translates the live feed of a session, archived messages included, from the beginning of the exchange `n` to its
 * end. `calls` are those that the client shows already.
 */
export function createExchangeSteps(n: number, known: readonly string[]): ExchangeSteps {
  const calls = new Set(known);
  const questions = new Map<string, QuestionInfo>();
  const asked = new Set<string>();
  /** The answer that arrives. */
  let open: string | null = null;

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
  const stored = (message: MessageInfo): ExchangeStep[] => {
    const { message_id, role, content, is_summary, tool_calls, call_id } = message;
    if (role === "tool" && call_id !== null) {
      return [{ type: "result", message, call_id }];
    }
    if (role !== "assistant" || is_summary) {
      return [];
    }
    const begun = open === message_id || content === "" ? [] : text(message_id, content);
    const made = (tool_calls ?? []).map((call) => ({ type: "call" as const, message_id, call }));
    for (const { call } of made) {
      calls.add(call.id);
    }
    return [...begun, ...endText(false), ...made, ...askOfCalls()];
  };

  return {
    of: (event) => {
      switch (event.event) {
        case "snapshot": {
          const { data } = event;
          data.questions.forEach(note);
          const isNext = data.exchange !== null && data.exchange.n !== n;
          return data.text === null || isNext ? [] : text(data.text.message_id, data.text.text);
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
        default:
          return [];
      }
    },
    end: (isWaiting) => [...endText(true), ...(isWaiting ? ask(() => true) : [])],
  };
}
