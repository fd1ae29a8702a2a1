import type { LiveEvent, LiveUsage } from "../../core/schemas/live.ts";
import type { LiveCall, LiveOutput, LiveReasoning, LiveRetry } from "../../core/live/live-state.ts";
import type { ExchangeInfo, QuestionInfo } from "../../core/schemas/schemas.ts";
import type { LivePhase, LiveView } from "./live-view.ts";
import { linesAfter } from "./output-lines.ts";

/** The states that a reader was shown last. */
export interface Shown {
  readonly exchange: ExchangeInfo | null;
  readonly questions: readonly QuestionInfo[];
  readonly calls: readonly LiveCall[];
  readonly outputs: readonly LiveOutput[];
  readonly usage: LiveUsage | null;
  readonly retry: LiveRetry | null;
  readonly reasoning: LiveReasoning | null;
}

/** As `Shown`, with what no snapshot has. */
export interface ShownStates extends Shown {
  readonly phases: readonly LivePhase[];
}

/** An event without its id. */
export type LiveNews = LiveEvent extends infer Each
  ? Each extends LiveEvent
    ? Omit<Each, "id">
    : never
  : never;

export function shownOf({ exchange, questions, live, state }: LiveView): Shown {
  const { calls = [], outputs = [], usage = null, retry = null, reasoning = null } = state ?? {};
  return {
    exchange,
    questions,
    calls,
    outputs,
    usage: live === null || usage === null ? null : { n: live.n, ...usage },
    retry,
    reasoning,
  };
}

/** What the model has thought since, which comes before the text of its answer. */
export function reasoningNews({ reasoning: before }: Shown, { state }: LiveView): LiveNews[] {
  const now = state?.reasoning ?? null;
  if (now === null) {
    return [];
  }
  const { message_id } = now;
  if (before?.message_id !== message_id) {
    return [{ event: "reasoning", data: now }];
  }
  // another node may know less
  const text = now.text.startsWith(before.text) ? now.text.slice(before.text.length) : "";
  return text === "" ? [] : [{ event: "reasoning", data: { message_id, text } }];
}

/** The exchange, if it changed. */
export function exchangeNews({ exchange: before }: Shown, { exchange }: LiveView): LiveNews[] {
  const isNew =
    exchange !== null &&
    (before === null ||
      before.n !== exchange.n ||
      before.revision !== exchange.revision ||
      before.state !== exchange.state);
  return isNew ? [{ event: "exchange", data: exchange }] : [];
}

/** Every other state that changed, with its value now. What no exchange does any more is not sent. */
export function stateNews(shown: Shown, view: LiveView): LiveNews[] {
  const { calls, usage, retry } = shownOf(view);
  const known = new Map(shown.calls.map((call) => [call.call_id, call]));
  const news: LiveNews[] = calls
    .filter((call) => !isSameCall(known.get(call.call_id), call))
    .map((data) => ({ event: "tool_call", data }));
  news.push(...outputNews(shown.outputs, view));
  if (usage !== null && !isSame(shown.usage, usage)) {
    news.push({ event: "usage", data: usage });
  }
  if (!isSame(shown.retry, retry)) {
    news.push({ event: "retry", data: retry });
  }
  return [...news, ...questionNews(shown.questions, view)];
}

/** The lines that came since, of each call. Those that the state does not have any more are left out. */
function outputNews(shown: readonly LiveOutput[], { state }: LiveView): LiveNews[] {
  const known = new Map(shown.map((output) => [output.call_id, output]));
  return (state?.outputs ?? []).flatMap((now) => {
    const data = linesAfter(known.get(now.call_id), now);
    return data === null ? [] : [{ event: "output", data }];
  });
}

/** The phases that are not as they were shown. */
export function phaseNews(before: readonly LivePhase[], { phases }: LiveView): LiveNews[] {
  const shown = new Map(before.map(({ phase, json }) => [phase.key, json]));
  return phases
    .filter(({ phase, json }) => shown.get(phase.key) !== json)
    .map(({ phase }) => ({ event: "phase", data: phase }));
}

function questionNews(shown: readonly QuestionInfo[], view: LiveView): LiveNews[] {
  const open = new Set(view.questions.map(({ id }) => id));
  const known = new Set(shown.map(({ id }) => id));
  const ended = shown.filter(({ id }) => !open.has(id)).map(({ id }) => view.ended(id));
  return [
    ...ended.filter((question) => question !== null),
    ...view.questions.filter(({ id }) => !known.has(id)),
  ].map((data) => ({ event: "question", data }));
}

function isSameCall(before: LiveCall | undefined, now: LiveCall): boolean {
  return (
    before === now || (before?.status === now.status && before.duration_ms === now.duration_ms)
  );
}

/** Compares two small values. */
function isSame(before: object | null, now: object | null): boolean {
  return before === now || JSON.stringify(before) === JSON.stringify(now);
}
