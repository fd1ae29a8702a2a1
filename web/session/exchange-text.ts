import type { ExchangeInfo, ListedExchange } from "../../src/entries/client.ts";
import { localTime } from "../parts/local-time.ts";

/** The sentence that is shown about an exchange; null for one that is done or runs. */
export function sentenceOf(exchange: ExchangeInfo): string | null {
  const { state, error_sentence, error_code } = exchange;
  switch (state) {
    case "stopped":
      return error_sentence === null
        ? "This exchange was stopped. An answer that had begun is cut."
        : `This exchange was stopped: ${error_sentence}`;
    case "failed":
      return `This exchange failed${error_code === null ? "" : ` (${error_code})`}: ${error_sentence ?? "no reason is known."}`;
    case "interrupted":
      return "This exchange was interrupted: its process died. An answer that had begun is cut. Continue it to finish the work.";
    case "waiting":
      return "This exchange waits for an answer.";
    case "queued":
    case "running":
    case "done":
      return null;
  }
}

const ASKED_BY = {
  terminal: "in a terminal",
  prompt: "as a command",
  http: "over HTTP",
  library: "in a program",
  agent: "by another agent",
} as const;

/** Where an exchange was asked for. */
export function whereOf({ asked_by }: Pick<ExchangeInfo, "asked_by">): string {
  return ASKED_BY[asked_by];
}

/** The sentence about an exchange that waits for its turn, or for its time. */
export function queuedSentence({ n, not_before }: ExchangeInfo, now = new Date()): string {
  return isAhead(not_before, now)
    ? `Exchange ${n} waits until ${localTime(not_before, now)}.`
    : `Exchange ${n} is queued.`;
}

/** True for a time that has not come. */
export function isAhead(time: string | null, now: Date): time is string {
  return time !== null && Date.parse(time) > now.getTime();
}

/** The model that answers in the place of the chosen one, as the end of a sentence; empty if none does. */
export function otherModelOf({
  model,
  fallback_model,
}: Pick<ExchangeInfo, "model" | "fallback_model">): string {
  return fallback_model === null
    ? ""
    : `; ${fallback_model} answers in the place of ${model ?? "the chosen model"}`;
}

/** Milliseconds from its beginning to its end, or to now; null before it began. */
export function durationOf({ begun_at, ended_at }: ExchangeInfo, now: number): number | null {
  return begun_at === null
    ? null
    : (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(begun_at);
}

/** Usage and cost of requests of models. */
export type Cost = Pick<ListedExchange, "usage" | "cost_micros">;

/** An amount such as `$0.12`; null for what is free or unknown. */
export function costText({ usage, cost_micros }: Cost): string | null {
  if (cost_micros === null || cost_micros === 0) {
    return null;
  }
  const dollars = cost_micros / 1_000_000;
  const isAtLeast = (usage?.unpriced_calls ?? 0) > 0;
  const small = isAtLeast ? `$${dollars}` : "<$0.01";
  return `${isAtLeast ? "at least " : ""}${dollars < 0.01 ? small : `$${dollars.toFixed(2)}`}`;
}
