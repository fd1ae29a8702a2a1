import type { LiveEvent } from "../../core/live.ts";
import type { ExchangeInfo } from "../../core/schemas.ts";
import { failureLine } from "../../store/sessions/failures.ts";
import type { CallEnd } from "./tool-rows.ts";
import type { Steps } from "./steps.ts";

type LiveCall = Extract<LiveEvent, { event: "tool_call" }>["data"];
type LiveMessage = Pick<
  Extract<LiveEvent, { event: "message" }>["data"],
  "message_id" | "call_id" | "role" | "content" | "tool_calls" | "is_summary"
>;

/** What the live feed of a session means; questions are shown elsewhere. */
export interface LiveReader {
  read(event: LiveEvent): void;
  /** A stored message that nobody has seen. */
  message(message: LiveMessage): void;
}

export function createLiveReader(steps: Steps, now: () => number): LiveReader {
  /** Calls whose result has not come, as the feed shows them. */
  const calls = new Map<string, LiveCall | null>();
  let arriving: string | null = null;

  const exchange = (record: ExchangeInfo): void => {
    if (record.state === "running") {
      steps.begun(false);
      return;
    }
    if (record.state !== "queued") {
      calls.clear();
      arriving = null;
      end(record);
    }
  };
  const end = ({
    state,
    error_code,
    error_sentence,
    input_tokens,
    output_tokens,
  }: ExchangeInfo): void => {
    if (input_tokens !== null && output_tokens !== null) {
      steps.usedInAll({ input_tokens, output_tokens });
    }
    const sentence =
      error_sentence === null
        ? `The exchange is ${state}; /continue resumes it.`
        : failureLine({ code: error_code ?? "", sentence: error_sentence });
    void steps.over(
      state === "done" || state === "waiting"
        ? { state }
        : state === "stopped"
          ? { state, hasAnswer: true }
          : { state: "failed", sentence },
    );
  };
  const call = (shown: LiveCall): void => {
    const { call_id: id, name, args, status } = shown;
    if (!calls.has(id)) {
      steps.call({ id, name, args });
    }
    // its message has the result
    calls.set(id, status === "running" ? null : shown);
  };
  const piece = (message_id: string, text: string): void => {
    arriving = message_id;
    steps.text(message_id, text);
  };
  const message = (stored: LiveMessage): void => {
    const { message_id, call_id, role, content, tool_calls, is_summary } = stored;
    if (is_summary || role === "system") {
      steps.summary(content);
    } else if (role === "user") {
      steps.user(content);
    } else if (role === "tool") {
      const id = call_id ?? message_id;
      const known = calls.get(id);
      const end: CallEnd = known?.status === "error" || isFailure(content) ? "error" : "success";
      steps.result(
        { id, name: known?.name ?? "a tool" },
        { end, content, duration_ms: known?.duration_ms ?? null },
      );
      calls.delete(id);
    } else {
      if (message_id !== arriving) {
        steps.text(message_id, content);
      }
      arriving = null;
      steps.endText();
      for (const { id, name, args } of tool_calls ?? []) {
        if (!calls.has(id)) {
          calls.set(id, null);
          steps.call({ id, name, args });
        }
      }
    }
  };
  return {
    message,
    read: ({ event, data }) => {
      switch (event) {
        case "snapshot":
          if (data.exchange !== null) {
            exchange(data.exchange);
          }
          data.calls.forEach(call);
          if (data.text !== null) {
            piece(data.text.message_id, data.text.text);
          }
          break;
        case "text":
          piece(data.message_id, data.text);
          break;
        case "reset":
          arriving = null;
          steps.voidText(data.message_id);
          break;
        case "message":
          message(data);
          break;
        case "exchange":
          exchange(data);
          break;
        case "tool_call":
          call(data);
          break;
        case "usage":
          steps.usedInAll(data);
          break;
        case "retry":
          steps.retry(
            data === null ? null : { ...data, at: now() + Date.parse(data.until) - Date.now() },
          );
          break;
        case "question":
          break;
      }
    },
  };
}

/** Results of older versions have no status. */
function isFailure(content: string): boolean {
  return content.startsWith("Error: ");
}
