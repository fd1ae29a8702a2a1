import type { ExchangeEvent } from "../../../exchange/events.ts";
import type { Steps } from "./steps.ts";

/** Reports what an event of the exchange itself means; its end comes with its result. */
export function readEvent(event: ExchangeEvent, steps: Steps, now: () => number): void {
  switch (event.type) {
    case "started":
      steps.begun(true);
      break;
    case "reasoning":
      steps.reasoning(event.message_id, event.text);
      break;
    case "text":
      steps.text(event.message_id, event.text);
      break;
    case "tool_call": {
      const { call_id: id, name, args, effect, subject } = event;
      steps.call({ id, name, args, effect, subject });
      break;
    }
    case "tool_result": {
      const { call_id: id, name, effect, subject, status, content, duration_ms } = event;
      steps.result({ id, name, effect, subject }, { status, content, duration_ms });
      break;
    }
    case "retry":
      steps.voidText(event.message_id);
      steps.retry({ attempt: event.attempt, reason: event.reason, at: now() + event.delay_ms });
      break;
    case "usage":
      steps.used(event);
      break;
    case "notice":
      steps.note(event.sentence);
      break;
    case "message":
      if (event.role === "assistant") {
        steps.endText();
      }
      break;
    case "child":
    case "child_waiting":
    case "phase":
    case "done":
    case "stopped":
    case "waiting":
    case "failed":
      break;
  }
}
