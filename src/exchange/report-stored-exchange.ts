import { ERROR_CODES } from "../core/errors.ts";
import type { FollowStep } from "../core/live/follow-exchange.ts";
import type { MessageInfo } from "../core/schemas/schemas.ts";
import type { ExchangeRecord } from "../core/sessions.ts";
import { threadId } from "../core/threads.ts";
import { readSession } from "../store/records/sessions/read.ts";
import type { Store } from "../store/store.ts";
import type { ExchangeListener } from "./events.ts";
import { ReasoningPieces } from "./live/reasoning-pieces.ts";
import { createReport, type Report, reportStored } from "./report-events.ts";

/**
 * Makes what reports an exchange that another process runs, as `followExchange` follows it: what its model thinks as it
 * arrives, an answer as one `text`, once it is stored.
 */
export function createStoredReport(
  store: Store,
  listener: ExchangeListener,
  { id: exchange_id, session_id }: Pick<ExchangeRecord, "id" | "session_id">,
): (step: FollowStep<ExchangeRecord>) => Promise<void> {
  const report = createReport(listener, { exchange_id, session_id });
  const pieces = new ReasoningPieces();
  let answer: string | null = null;
  const start = async ({ model, persona_name }: ExchangeRecord): Promise<void> => {
    const { thread_suffix, ...session } = await store.read(readSession, { id: session_id });
    const agent = session.agent === null ? {} : { agent: session.agent };
    const thread_id = threadId(session_id, thread_suffix);
    report({ type: "started", thread_id, model, persona_name, ...agent });
  };
  const end = async (exchange: ExchangeRecord): Promise<void> => {
    const { state, error_code, error_sentence } = exchange;
    if (state === "failed") {
      const code = ERROR_CODES.find((each) => each === error_code) ?? "internal";
      report({ type: "failed", code, detail: error_sentence ?? "" });
    } else if (state === "done" || state === "stopped" || state === "waiting") {
      const session = await store.read(readSession, { id: session_id });
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

  return async (step) => {
    if (step.event === "begun") {
      await start(step.exchange);
    } else if (step.event === "over") {
      await end(step.exchange);
    } else if (step.event === "reasoning" || step.event === "snapshot") {
      const piece = pieces.of(step);
      if (piece !== null) {
        report({ type: "reasoning", ...piece });
      }
    } else if (step.event === "message") {
      const { message_id, role, is_summary } = step.data;
      answer = role === "assistant" && !is_summary ? message_id : answer;
      reportRow(report, step.data);
    }
  };
}

function reportRow(report: Report, message: MessageInfo): void {
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
