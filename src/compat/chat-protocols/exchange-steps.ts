import type { LiveEvent } from "../../core/schemas/live.ts";
import type { QuestionInfo } from "../../core/schemas/schemas.ts";
import type { ToolCall } from "../../core/sessions.ts";
import { EventReader, type ShownMessage } from "../../exchange/live/event-reader.ts";

/** Step that a client of one exchange is shown, in order. */
export type ExchangeStep =
  /** A piece of what the model thinks of the answer `message_id`; the first one begins it, and may be empty. */
  | { readonly type: "reasoning"; readonly message_id: string; readonly text: string }
  /** It writes or calls a tool; or what it thought is void, with its answer. */
  | { readonly type: "reasoning_end"; readonly message_id: string; readonly is_void: boolean }
  /** A piece of the answer `message_id`; the first one begins it. */
  | { readonly type: "text"; readonly message_id: string; readonly text: string }
  /** The answer is stored; or it is void, and comes again with another id. */
  | { readonly type: "text_end"; readonly message_id: string; readonly is_void: boolean }
  | { readonly type: "call"; readonly message_id: string; readonly call: ToolCall }
  | { readonly type: "result"; readonly message: ShownMessage; readonly call_id: string }
  /** After the call that asks, if it is a call of this session. */
  | { readonly type: "question"; readonly question: QuestionInfo; readonly has_call: boolean };

export interface ExchangeSteps {
  /** Returns what an event of the session means for the exchange. */
  of(event: LiveEvent): readonly ExchangeStep[];
  /** Returns what comes last, of an exchange that waits for answers or has ended. */
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
  let steps: ExchangeStep[] = [];
  const taken = (): readonly ExchangeStep[] => {
    const all = steps;
    steps = [];
    return all;
  };
  const ask = (which: (question: QuestionInfo) => boolean): void => {
    for (const question of [...questions.values()].filter(which)) {
      questions.delete(question.id);
      asked.add(question.id);
      steps.push({ type: "question", question, has_call: calls.has(question.call_id) });
    }
  };
  const askOfCalls = (): void => ask(({ call_id }) => calls.has(call_id));
  const note = (question: QuestionInfo): void => {
    if (question.state !== "open") {
      questions.delete(question.id);
    } else if (question.kind !== "messages" && !asked.has(question.id)) {
      questions.set(question.id, question);
    }
  };
  /** The answer of which the model thinks. */
  let thinking: string | null = null;
  const endReasoning = (is_void = false): void => {
    if (thinking !== null) {
      steps.push({ type: "reasoning_end", message_id: thinking, is_void });
    }
    thinking = null;
  };
  const reasoning = (message_id: string, piece: string): void => {
    // of another answer: that one failed, since it would be stored before
    if (thinking !== message_id) {
      endReasoning(true);
    }
    thinking = message_id;
    steps.push({ type: "reasoning", message_id, text: piece });
  };
  const text = (message_id: string, piece: string): void => {
    endReasoning(thinking !== message_id);
    steps.push({ type: "text", message_id, text: piece });
  };
  const textEnd = (message_id: string, is_void: boolean): void => {
    endReasoning();
    steps.push({ type: "text_end", message_id, is_void });
  };
  const nothing = (): void => undefined;
  const reader = new EventReader(
    {
      reasoning,
      text,
      textEnd,
      message: ({ message_id, role, content, is_summary, tool_calls }, hasArrived) => {
        if (role !== "assistant" || is_summary) {
          return;
        }
        endReasoning();
        if (!hasArrived && content !== "") {
          // the client shows one text at a time
          reader.end();
          text(message_id, content);
          textEnd(message_id, false);
        }
        for (const call of tool_calls ?? []) {
          calls.add(call.id);
          steps.push({ type: "call", message_id, call });
        }
        askOfCalls();
      },
      result: (message) => {
        if (message.call_id !== null) {
          steps.push({ type: "result", message, call_id: message.call_id });
        }
      },
      question: note,
      // calls come with their message
      call: nothing,
      output: nothing,
      exchange: nothing,
      usage: nothing,
      retry: (again) => {
        if (again !== null) {
          endReasoning(true);
        }
      },
    },
    { callsInOrder: false },
  );

  return {
    of: (event) => {
      if (event.event === "snapshot" && (event.data.exchange?.n ?? n) !== n) {
        event.data.questions.forEach(note);
      } else {
        reader.read(event);
      }
      if (event.event === "question") {
        askOfCalls();
      }
      return taken();
    },
    end: (isWaiting) => {
      reader.end();
      endReasoning();
      if (isWaiting) {
        ask(() => true);
      }
      return taken();
    },
  };
}
