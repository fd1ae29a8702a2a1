import type { LiveEvent } from "../../src/core/schemas/live.ts";
import type { ExchangeInfo } from "../../src/core/schemas/schemas.ts";

export function exchangeInfo(n: number, state: ExchangeInfo["state"]): ExchangeInfo {
  return {
    session_id: "s",
    n,
    id: `exchange ${n}`,
    revision: 1,
    state,
    asked_by: "http",
    parent_n: null,
    model: null,
    fallback_model: null,
    resets_at: null,
    not_before: null,
    persona_name: null,
    first_seq: null,
    last_seq: null,
    input_tokens: null,
    output_tokens: null,
    error_code: null,
    error_sentence: null,
    attempts: 0,
    queued_at: null,
    begun_at: null,
    ended_at: null,
  };
}

/** The event of a stored message. */
export function messageEvent(
  seq: number,
  role: "user" | "assistant" | "tool",
  more: object = {},
): LiveEvent {
  return {
    id: "",
    event: "message",
    data: {
      message_id: `m${seq}`,
      session_id: "s",
      seq,
      role,
      content: "",
      tool_calls: null,
      token_count: 0,
      is_summary: false,
      archived: false,
      ts: "2026-01-01T00:00:00.000Z",
      call_id: null,
      status: null,
      ...more,
    },
  };
}
