import { type CallFacts, NO_FACTS } from "../../core/calls.ts";
import type { LiveEvent } from "../../core/live.ts";
import type { ExchangeInfo, MessageInfo } from "../../core/schemas.ts";
import { failureLine } from "../../store/sessions/failures.ts";
import type { Steps } from "./steps.ts";

type LiveCall = Extract<LiveEvent, { event: "tool_call" }>["data"];
type LiveMessage = Pick<
  MessageInfo,
  "message_id" | "call_id" | "status" | "role" | "content" | "tool_calls" | "is_summary"
>;

/** What the live feed of a session means; questions are shown elsewhere. */
export interface LiveReader {
  read(event: LiveEvent): void;
  /** A stored message that nobody has seen. */
  message(message: LiveMessage): void;
}

/** What is known of a call, from whichever event comes first. */
interface Known {
  readonly name: string;
  readonly args: unknown;
  readonly facts: CallFacts;
  readonly duration_ms: number | null;
  readonly isShown: boolean;
  readonly isOver: boolean;
}

export function createLiveReader(steps: Steps, now: () => number): LiveReader {
  const calls = new Map<string, Known>();
  let arriving: string | null = null;
  /** Messages until this one are older than the calls of the snapshot. */
  let backlogEnd = 0;

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
  const know = ({ call_id, name, args, effect, subject, duration_ms }: LiveCall): void => {
    const { isShown = false, isOver = false } = calls.get(call_id) ?? {};
    calls.set(call_id, { name, args, facts: { effect, subject }, duration_ms, isShown, isOver });
  };
  const showCalls = (): void => {
    for (const [id, known] of calls) {
      if (!known.isShown && !known.isOver) {
        calls.set(id, { ...known, isShown: true });
        steps.call({ id, name: known.name, args: known.args, ...known.facts });
      }
    }
  };
  /** Calls of earlier exchanges get no result any more. */
  const forgetShown = (): void => {
    for (const [id, { isShown }] of calls) {
      if (isShown) {
        calls.delete(id);
      }
    }
  };
  const piece = (message_id: string, text: string): void => {
    arriving = message_id;
    steps.text(message_id, text);
  };
  const message = (stored: LiveMessage): void => {
    const { message_id, call_id, role, status, content, tool_calls, is_summary } = stored;
    if (is_summary || role === "system") {
      steps.summary(content);
    } else if (role === "user") {
      forgetShown();
      steps.user(content);
    } else if (role === "tool") {
      result(call_id ?? message_id, { status, content });
    } else {
      if (message_id !== arriving) {
        steps.text(message_id, content);
      }
      arriving = null;
      steps.endText();
      for (const call of tool_calls ?? []) {
        const { id, name, args, effect, subject } = call;
        const { duration_ms = null } = calls.get(id) ?? {};
        const facts = { effect, subject };
        calls.set(id, { name, args, facts, duration_ms, isShown: true, isOver: false });
        steps.call(call);
      }
    }
  };
  const result = (id: string, given: Pick<LiveMessage, "status" | "content">): void => {
    const known = calls.get(id);
    const { name = "a tool", args = null, facts = NO_FACTS, duration_ms = null } = known ?? {};
    calls.set(id, { name, args, facts, duration_ms, isShown: true, isOver: true });
    steps.result({ id, name, ...facts }, { ...given, duration_ms });
  };
  return {
    message,
    read: ({ event, data }) => {
      switch (event) {
        case "snapshot":
          if (data.exchange !== null) {
            exchange(data.exchange);
          }
          backlogEnd = data.text === null ? data.last_seq : 0;
          data.calls.forEach(know);
          if (data.text !== null) {
            showCalls();
            piece(data.text.message_id, data.text.text);
          }
          break;
        case "text":
          showCalls();
          piece(data.message_id, data.text);
          break;
        case "reset":
          arriving = null;
          steps.voidText(data.message_id);
          break;
        case "message":
          message(data);
          if (data.seq >= backlogEnd) {
            showCalls();
          }
          break;
        case "exchange":
          exchange(data);
          break;
        case "tool_call":
          know(data);
          showCalls();
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
