import { NO_FACTS } from "../../../core/calls.ts";
import type { ExchangeInfo } from "../../../core/schemas/schemas.ts";
import { EventReader, type EventSink } from "../../../exchange/live/event-reader.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { failureLine } from "../../../store/records/sessions/failures.ts";
import type { Steps } from "./steps.ts";

/** Reads the live feed of a session into steps; questions are shown elsewhere. */
export function createLiveReader(steps: Steps, now: () => number): EventReader {
  let otherModel: string | null = null;
  const sink: EventSink = {
    reasoning: steps.reasoning,
    text: steps.text,
    textEnd: (message_id, isVoid) => {
      if (isVoid) {
        steps.voidText(message_id);
      }
    },
    message: ({ message_id, role, content, is_summary }, hasArrived) => {
      if (is_summary || role === "system") {
        steps.summary(content);
      } else if (role === "user") {
        steps.user(content);
      } else {
        if (!hasArrived) {
          steps.text(message_id, content);
        }
        steps.endText();
      }
    },
    call: steps.call,
    output: steps.output,
    result: ({ message_id, call_id, status, content }, call) => {
      const { name = "a tool", effect, subject, duration_ms = null } = { ...NO_FACTS, ...call };
      const id = call_id ?? message_id;
      steps.result({ id, name, effect, subject }, { status, content, duration_ms });
    },
    exchange: (exchange) => {
      if (exchange.state === "running") {
        steps.begun(false);
        const { model, fallback_model } = exchange;
        if (fallback_model !== null && fallback_model !== otherModel) {
          const chosen = oneLine(model ?? "the chosen model");
          steps.note(`${oneLine(fallback_model)} answers in the place of ${chosen}.`);
        }
        otherModel = fallback_model;
      } else if (exchange.state !== "queued") {
        end(steps, exchange);
      }
    },
    question: () => undefined,
    usage: steps.usedInAll,
    retry: (again) =>
      steps.retry(again && { ...again, at: now() + Date.parse(again.until) - Date.now() }),
  };
  return new EventReader(sink, { callsInOrder: true });
}

function end(
  steps: Steps,
  { state, error_code, error_sentence, input_tokens, output_tokens }: ExchangeInfo,
): void {
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
}
