import { ERROR_CODES } from "../core/errors.ts";
import { isFinal } from "../core/exchanges.ts";
import type { ExchangeRecord, Message } from "../core/sessions.ts";
import { threadId } from "../core/threads.ts";
import { readMessagesAfter } from "../store/messages/read.ts";
import { readSession } from "../store/sessions/read.ts";
import type { Store } from "../store/store.ts";
import type { ExchangeListener } from "./events.ts";
import { createReport, type Report, reportStored } from "./report-events.ts";

/** Rows that are read at once. */
const ROWS = 100;

/**
 * Makes what reports an exchange that another process runs, by what it has stored. To be called with its record, again
 * and again until it ends; then the last event is reported. An answer is one `text`.
 */
export function createStoredReport(
  store: Store,
  listener: ExchangeListener,
  { id: exchange_id, session_id }: Pick<ExchangeRecord, "id" | "session_id">,
): (exchange: ExchangeRecord) => Promise<void> {
  const report = createReport(listener, { exchange_id, session_id });
  let hasStarted = false;
  let after: number | null = null;
  let answer: string | null = null;

  const reportRows = async ({ first_seq, last_seq, state }: ExchangeRecord): Promise<void> => {
    if (first_seq === null) {
      return;
    }
    // what comes after its last row is of the next exchange
    const end = isFinal(state) ? (last_seq ?? 0) : Infinity;
    for (;;) {
      const after_seq: number = after ?? first_seq - 1;
      const limit = Math.min(ROWS, end - after_seq);
      const rows =
        limit <= 0
          ? []
          : await store.read(readMessagesAfter, { session_id, after_seq, all: true, limit });
      for (const message of rows) {
        after = message.seq;
        if (message.role === "assistant" && !message.is_summary) {
          answer = message.message_id;
        }
        reportRow(report, message);
      }
      if (rows.length < ROWS) {
        return;
      }
    }
  };

  return async (exchange) => {
    const session = await store.read(readSession, { id: session_id });
    if (!hasStarted && exchange.begun_at !== null) {
      hasStarted = true;
      const { model, persona_name } = exchange;
      const agent = session.agent === null ? {} : { agent: session.agent };
      const thread_id = threadId(session_id, session.thread_suffix);
      report({ type: "started", thread_id, model, persona_name, ...agent });
    }
    await reportRows(exchange);
    const { state, error_code, error_sentence } = exchange;
    if (state === "failed") {
      const code = ERROR_CODES.find((each) => each === error_code) ?? "internal";
      report({ type: "failed", code, detail: error_sentence ?? "" });
    } else if (state === "done" || state === "stopped" || state === "waiting") {
      const { last_seq, total_input_tokens, total_output_tokens } = session;
      report({
        type: state,
        message_id: answer,
        last_seq: exchange.last_seq ?? last_seq,
        total_input_tokens,
        total_output_tokens,
      });
    }
  };
}

function reportRow(report: Report, message: Message): void {
  const { message_id, role, is_summary, content, tool_calls } = message;
  if (role === "assistant" && !is_summary) {
    if (content !== "") {
      report({ type: "text", message_id, text: content });
    }
    for (const { id: call_id, ...call } of tool_calls ?? []) {
      report({ type: "tool_call", message_id, call_id, ...call });
    }
  }
  reportStored(report, [message]);
}
