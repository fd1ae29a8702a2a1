import type { ExchangeResult } from "../../../../src/exchange/events.ts";
import { scriptedExchange } from "../scripted-exchange.ts";

export const DONE = { state: "done", answer: "" } as ExchangeResult;

/** An exchange whose model thinks. */
export function createScriptedThoughts() {
  const scripted = scriptedExchange();
  const { show } = scripted;
  return {
    ...scripted,
    reasoning: (message_id: string, text: string) => show({ type: "reasoning", message_id, text }),
    retry: (message_id: string) =>
      show({
        type: "retry",
        message_id,
        attempt: 2,
        code: "model_failed",
        reason: "overloaded",
        delay_ms: 1,
      }),
  };
}
