import { type Static, Type } from "typebox";

import { open } from "../../core/schemas/field-schemas.ts";
import type { ExchangeInfo } from "../../core/schemas/schemas.ts";
import type { ShownMessage } from "../../exchange/live/event-reader.ts";
import type { ExchangeStep } from "./exchange-steps.ts";
import type { Submitted } from "./submit.ts";
import {
  memberOf,
  type QuestionReply,
  refuseAt,
  textAt,
  textOfParts,
  type UiRequest,
} from "./request.ts";

/** Body that `DefaultChatTransport` sends; only the last message counts, because the session has the others. */
export const UiChatRequest = Type.Object(
  {
    messages: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          role: Type.String(),
          parts: Type.Array(Type.Object({ type: Type.String() }, open)),
        },
        open,
      ),
      { minItems: 1 },
    ),
    trigger: Type.Optional(Type.String()),
  },
  open,
);

/**
 * The message that the user sent, or the replies to requests for approval.
 *
 * Error codes: `invalid_request`.
 */
export function readUiRequest({ messages, trigger }: Static<typeof UiChatRequest>): UiRequest {
  const last = messages.at(-1);
  if (last === undefined || trigger === "regenerate-message") {
    throw refuseAt("/trigger", "An answer is kept and cannot be made again. Send a new message.");
  }
  if (last.role === "user") {
    return { type: "message", id: last.id, text: textOfParts(last.parts) };
  }
  const replies = last.parts.flatMap(repliesOf);
  if (replies.length === 0) {
    throw refuseAt("/messages", "The last message must be the user's, or answer a question.");
  }
  const calls = last.parts.flatMap((part) => textAt(part, "toolCallId") ?? []);
  // as `start` has named the message
  return { type: "answers", replies, calls, message: null, exchange: last.id };
}

function repliesOf(part: object): readonly QuestionReply[] {
  const approval = memberOf(part, "approval");
  const question = textAt(approval, "id");
  if (memberOf(part, "state") !== "approval-responded" || question === null) {
    return [];
  }
  const approved = memberOf(approval, "approved") === true;
  const call = textAt(part, "toolCallId");
  return [{ question, call, approved, text: textAt(approval, "reason"), note: null }];
}

/**
 * A chunk of the AI SDK's UI message stream, version 1 (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol). Each is
 * the data of a server-sent event; the last event is `[DONE]`.
 */
export type UiChunk = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Further headers of an answer with such a stream. */
export const UI_STREAM_HEADERS = { "x-vercel-ai-ui-message-stream": "v1" };

export interface UiEncoder {
  readonly start: readonly UiChunk[];
  encode(step: ExchangeStep): readonly UiChunk[];
  end(exchange: ExchangeInfo): readonly UiChunk[];
}

/**
 * Shows an exchange as one message: each answer of the agent is a step of it, a tool call is a dynamic tool, and a
 * question is the request to approve the call that asks. What a failed attempt had written is taken back.
 * `replied` are the calls whose questions the client has answered. Of those, `answers` has the questions that have no
 * call of this session, by the ids with which they are shown.
 */
export function createUiEncoder(
  { id, n }: Pick<ExchangeInfo, "id" | "n">,
  { answers, replied }: Pick<Submitted, "answers" | "replied"> = NOT_REPLIED,
): UiEncoder {
  /** The answer that the current step shows. */
  let shown: string | null = null;
  let isWriting = false;
  let isThinking = false;
  /** Calls without a result that ask nobody. */
  const open = new Set(replied.filter((call) => !answers.has(call)));

  const endStep = (): UiChunk[] => {
    const wasShown = shown !== null;
    shown = null;
    return wasShown ? [{ type: "finish-step" }] : [];
  };
  const stepOf = (message_id: string): UiChunk[] => {
    if (shown === message_id) {
      return [];
    }
    const chunks = [...endStep(), { type: "start-step" }];
    shown = message_id;
    return chunks;
  };

  return {
    start: [
      { type: "start", messageId: id, messageMetadata: { n } },
      ...[...answers].map(([question, answer]) => outputOf(question, answer)),
    ],
    encode: (step) => {
      switch (step.type) {
        case "reasoning": {
          const id = step.message_id;
          const begun = isThinking ? [] : [...stepOf(id), { type: "reasoning-start", id }];
          isThinking = true;
          const isSign = step.text === "";
          return isSign ? begun : [...begun, { type: "reasoning-delta", id, delta: step.text }];
        }
        case "reasoning_end":
          isThinking = false;
          if (step.is_void) {
            shown = null;
            return [{ type: "reset-step" }];
          }
          return [{ type: "reasoning-end", id: step.message_id }];
        case "text": {
          const id = step.message_id;
          const begun = [...stepOf(id), ...(isWriting ? [] : [{ type: "text-start", id }])];
          isWriting = true;
          return [...begun, { type: "text-delta", id, delta: step.text }];
        }
        case "text_end":
          isWriting = false;
          if (step.is_void) {
            shown = null;
            return [{ type: "reset-step" }];
          }
          return [{ type: "text-end", id: step.message_id }];
        case "call": {
          const { id, name, args } = step.call;
          open.add(id);
          return [...stepOf(step.message_id), inputOf(id, name, args)];
        }
        case "result":
          open.delete(step.call_id);
          return [resultOf(step.call_id, step.message)];
        case "question": {
          const { id, call_id, kind, text, choices, permission } = step.question;
          const toolCallId = step.has_call ? call_id : id;
          open.delete(toolCallId);
          const request = { type: "tool-approval-request", approvalId: id, toolCallId };
          return step.has_call
            ? [{ ...request, reason: text }]
            : [inputOf(id, kind, { text, choices, permission }), { ...request, reason: text }];
        }
      }
    },
    end: ({ state, error_sentence }) => {
      // a client sends replies again for as long as their calls have no output
      const outputs = [...open].map((call) =>
        state === "waiting" ? outputOf(call, RESULT_FOLLOWS) : noOutputOf(call),
      );
      const last = [...outputs, ...endStep()];
      switch (state) {
        case "failed":
          return [...last, { type: "error", errorText: error_sentence ?? "The exchange failed." }];
        case "interrupted":
          return [...last, { type: "error", errorText: INTERRUPTED }];
        case "stopped":
          return [...last, { type: "abort", reason: "The exchange was stopped." }];
        case "waiting":
          return [...last, { type: "finish", finishReason: "tool-calls" }];
        default:
          return [...last, { type: "finish", finishReason: "stop" }];
      }
    },
  };
}

const NOT_REPLIED = { answers: new Map<string, string>(), replied: [] };

/** Result of a finished call, as shown while another one asks: results are stored together. */
const RESULT_FOLLOWS = "The result follows once the questions are answered.";

const INTERRUPTED =
  "The process that ran the exchange ended. Continue the exchange, or send another message.";

function noOutputOf(toolCallId: string): UiChunk {
  const errorText = "The exchange ended before the call had a result.";
  return { type: "tool-output-error", toolCallId, errorText, dynamic: true };
}

function inputOf(toolCallId: string, toolName: string, input: unknown): UiChunk {
  return { type: "tool-input-available", toolCallId, toolName, input, dynamic: true };
}

/** The result of a call; one that did not end well is an error. */
function resultOf(toolCallId: string, { status, content }: ShownMessage): UiChunk {
  return status === null || status === "ok"
    ? outputOf(toolCallId, content)
    : { type: "tool-output-error", toolCallId, errorText: content, dynamic: true };
}

/** The result of a call, or the answer to a question that has no call. */
function outputOf(toolCallId: string, output: string): UiChunk {
  return { type: "tool-output-available", toolCallId, output, dynamic: true };
}
