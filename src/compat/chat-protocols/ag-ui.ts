import { type Static, Type } from "typebox";

import { open } from "../../core/schemas/field-schemas.ts";
import type { ExchangeInfo, QuestionInfo } from "../../core/schemas/schemas.ts";
import type { Message } from "../../core/sessions.ts";
import type { ExchangeStep } from "./exchange-steps.ts";
import {
  memberOf,
  type QuestionReply,
  refuseAt,
  textAt,
  textOfParts,
  type UiRequest,
} from "./request.ts";

/** Body that `HttpAgent` sends (`RunAgentInput`); only its last message counts, because the session has the others. */
export const RunAgentInput = Type.Object(
  {
    threadId: Type.String(),
    runId: Type.String(),
    messages: Type.Array(
      Type.Object(
        { id: Type.String(), role: Type.String(), content: Type.Optional(Type.Unknown()) },
        open,
      ),
    ),
    resume: Type.Optional(
      Type.Array(
        Type.Object(
          {
            interruptId: Type.String(),
            status: Type.String(),
            payload: Type.Optional(Type.Unknown()),
          },
          open,
        ),
      ),
    ),
  },
  open,
);

type ResumeEntry = NonNullable<Static<typeof RunAgentInput>["resume"]>[number];

/**
 * The message that the user sent, or the replies to interrupts.
 *
 * Error codes: `invalid_request`.
 */
export function readAgUiRequest(input: Static<typeof RunAgentInput>): UiRequest {
  const { messages, resume = [] } = input;
  const last = messages.at(-1);
  if (resume.length > 0) {
    const message = last?.role === "user" ? last.id : null;
    return { type: "answers", replies: resume.map(replyOf), calls: [], message, exchange: null };
  }
  if (last?.role !== "user") {
    throw refuseAt("/messages", "The last message must be the user's, or `resume` has answers.");
  }
  return { type: "message", id: last.id, text: textOf(last.content) };
}

/** A text, or a list of parts that are texts. */
function textOf(content: unknown): string {
  return textOfParts(Array.isArray(content) ? content : [{ type: "text", text: content }]);
}

/** An answer as the interrupt's `responseSchema` describes it, or yes and no as other agents expect them. */
function replyOf({ interruptId: question, status, payload }: ResumeEntry): QuestionReply {
  if (status !== "resolved") {
    return { question, call: null, approved: false, text: null, note: null };
  }
  const text =
    typeof payload === "string" ? payload : (textAt(payload, "choice") ?? textAt(payload, "text"));
  const approved = typeof payload === "boolean" ? payload : memberOf(payload, "approved");
  if (text !== null || typeof approved === "boolean") {
    const isSaid = typeof approved === "boolean";
    return {
      question,
      call: null,
      approved: isSaid ? approved : null,
      text: text ?? textAt(payload, "reason"),
      note: textAt(payload, "note"),
    };
  }
  throw refuseAt("/resume", "The payload must be an object with `choice`, `text` or `approved`.");
}

/** An event of AG-UI 1.0 (https://docs.ag-ui.com/concepts/events). */
export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A message of AG-UI. */
interface AgUiMessage extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly role: string;
}

export interface AgUiEncoder {
  readonly start: readonly AgUiEvent[];
  /** Lists what the session has, before what follows; `ids` are the client's, by `seq`. */
  begin(before: readonly Message[], ids: ReadonlyMap<number, string>): readonly AgUiEvent[];
  encode(step: ExchangeStep): readonly AgUiEvent[];
  end(exchange: ExchangeInfo): readonly AgUiEvent[];
}

/** Shows an exchange as a run, and what it asks as the interrupts with which the run ends. */
export function createAgUiEncoder(
  run: { readonly threadId: string; readonly runId: string },
  request: UiRequest,
): AgUiEncoder {
  const messages: AgUiMessage[] = [];
  const questions: QuestionInfo[] = [];
  let thinking: { readonly id: string; text: string } | null = null;
  /** Thoughts of this exchange: one answer may have several. */
  let thoughts = 0;
  let writing: { readonly id: string; text: string } | null = null;

  /** Lists the messages that are stored, so that a client drops an answer that is void. */
  const list = (): AgUiEvent => ({ type: "MESSAGES_SNAPSHOT", messages: [...messages] });
  /** A client keeps its reasoning if a list has none: so one with nothing in it takes the place of one that is void. */
  const listWithout = (id: string): AgUiEvent => {
    const none = { id, role: "reasoning", content: "" };
    const hasOther = messages.some(({ role }) => role === "reasoning");
    return { type: "MESSAGES_SNAPSHOT", messages: [...messages, ...(hasOther ? [] : [none])] };
  };
  const endText = (): AgUiEvent[] => {
    const ended = writing;
    writing = null;
    return ended === null ? [] : [{ type: "TEXT_MESSAGE_END", messageId: ended.id }];
  };
  const store = (message: AgUiMessage): void => {
    const at = messages.findIndex(({ id }) => id === message.id);
    messages.splice(at < 0 ? messages.length : at, at < 0 ? 0 : 1, message);
  };

  return {
    start: [{ type: "RUN_STARTED", ...run }],
    begin: (before, ids) => {
      messages.push(...before.flatMap((message) => messageOf(message, ids)));
      if (request.type === "message") {
        // under the client's own id
        messages.push({ id: request.id, role: "user", content: request.text });
      }
      return [list()];
    },
    encode: (step) => {
      switch (step.type) {
        case "reasoning": {
          const begun = thinking === null;
          thoughts += begun ? 1 : 0;
          thinking ??= { id: `${step.message_id}:reasoning:${thoughts}`, text: "" };
          const { id: messageId } = thinking;
          thinking.text += step.text;
          const content = { type: "REASONING_MESSAGE_CONTENT", messageId, delta: step.text };
          return [
            ...(begun ? beginReasoning(messageId) : []),
            ...(step.text === "" ? [] : [content]),
          ];
        }
        case "reasoning_end": {
          const ended = thinking;
          thinking = null;
          if (ended === null) {
            return [];
          }
          if (!step.is_void) {
            store({ id: ended.id, role: "reasoning", content: ended.text });
          }
          return [...endReasoning(ended.id), ...(step.is_void ? [listWithout(ended.id)] : [])];
        }
        case "text": {
          const { message_id: messageId, text: delta } = step;
          const content = { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
          if (writing !== null) {
            writing.text += delta;
            return [content];
          }
          writing = { id: messageId, text: delta };
          return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }, content];
        }
        case "text_end": {
          if (step.is_void) {
            return [...endText(), list()];
          }
          store({ id: step.message_id, role: "assistant", content: writing?.text ?? "" });
          return endText();
        }
        case "call": {
          const { message_id: parentMessageId } = step;
          const { id: toolCallId, name: toolCallName } = step.call;
          const args = JSON.stringify(step.call.args ?? {});
          const parent = messages.find(({ id }) => id === parentMessageId);
          const before = Array.isArray(parent?.["toolCalls"]) ? parent["toolCalls"] : [];
          store({
            ...(parent ?? { id: parentMessageId, role: "assistant" }),
            toolCalls: [...before, callOf(toolCallId, toolCallName, args)],
          });
          return [
            { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId },
            { type: "TOOL_CALL_ARGS", toolCallId, delta: args },
            { type: "TOOL_CALL_END", toolCallId },
          ];
        }
        case "result": {
          const { call_id: toolCallId } = step;
          const { message_id: messageId, content } = step.message;
          store({ id: messageId, role: "tool", toolCallId, content, ...errorOf(step.message) });
          return [{ type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" }];
        }
        case "question":
          questions.push(step.question);
          return [];
      }
    },
    end: ({ state, error_sentence, error_code }) => {
      const last = endText();
      switch (state) {
        case "failed":
          return [...last, runError(error_sentence ?? "The exchange failed.", error_code)];
        case "interrupted":
          return [...last, runError(INTERRUPTED, "interrupted")];
        default:
          return [...last, { type: "RUN_FINISHED", ...run, outcome: outcomeOf(state, questions) }];
      }
    },
  };
}

function beginReasoning(messageId: string): AgUiEvent[] {
  return [
    { type: "REASONING_START", messageId },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
  ];
}

function endReasoning(messageId: string): AgUiEvent[] {
  return [
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
}

const INTERRUPTED =
  "The process that ran the exchange ended. Continue the exchange, or send another message.";

function runError(message: string, code: string | null): AgUiEvent {
  return { type: "RUN_ERROR", message, ...(code === null ? {} : { code }) };
}

function outcomeOf(state: ExchangeInfo["state"], questions: readonly QuestionInfo[]): object {
  if (state === "stopped") {
    return { type: "cancelled" };
  }
  return state === "waiting" && questions.length > 0
    ? { type: "interrupt", interrupts: questions.map(interruptOf) }
    : { type: "success" };
}

function interruptOf(question: QuestionInfo): object {
  const { id, kind, text, choices, permission, call_id, answer_by, session_id } = question;
  const answer =
    choices === null
      ? { text: { type: "string" } }
      : { choice: { oneOf: choices.map(({ id, label }) => ({ const: id, title: label })) } };
  return {
    id,
    reason: kind,
    message: text,
    toolCallId: call_id,
    responseSchema: {
      type: "object",
      properties: { ...answer, note: { type: "string" } },
      required: Object.keys(answer),
    },
    ...(answer_by === null ? {} : { expiresAt: answer_by }),
    metadata: { session_id, choices, permission },
  };
}

/** As AG-UI writes a stored message; nothing for one that only the agent sees. */
function messageOf(message: Message, ids: ReadonlyMap<number, string>): AgUiMessage[] {
  const { seq, message_id, role, content, tool_calls, call_id, is_summary } = message;
  const id = ids.get(seq) ?? message_id;
  if (is_summary) {
    return [];
  }
  if (role === "tool") {
    return call_id === null
      ? []
      : [{ id, role, toolCallId: call_id, content, ...errorOf(message) }];
  }
  const toolCalls = (tool_calls ?? []).map((call) =>
    callOf(call.id, call.name, JSON.stringify(call.args ?? {})),
  );
  return [{ id, role, content, ...(toolCalls.length === 0 ? {} : { toolCalls }) }];
}

/** How a call ended, unless it ended well: one of `CALL_STATUSES`. */
function errorOf({ status }: Pick<Message, "status">): { readonly error?: string } {
  return status === null || status === "ok" ? {} : { error: status };
}

function callOf(id: string, name: string, args: string): object {
  return { id, type: "function", function: { name, arguments: args } };
}
