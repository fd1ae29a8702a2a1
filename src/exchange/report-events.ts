import { newId } from "../core/ids.ts";
import type { Message } from "../core/sessions.ts";
import { storableValue } from "../core/text/storable-value.ts";
import type { StoredMessage } from "../store/records/messages/mirror.ts";
import { failureOf } from "./exchange-failure.ts";
import type { Feed, LiveReport } from "./live/feed.ts";
import type { ExchangeEvent, ExchangeListener, ExchangeResult } from "./events.ts";

/** Exchange that events are of. One that is continued has the id of its record. */
export interface ExchangeIdentity {
  exchange_id: string;
  readonly session_id: string;
}
type WithoutIdentity<Event> = Event extends unknown ? Omit<Event, keyof ExchangeIdentity> : never;

/** Reports an event of one exchange; the caller need not know which exchange it is. */
export type Report = (event: WithoutIdentity<ExchangeEvent>) => void;

const ENDS: ReadonlySet<string> = new Set(["done", "stopped", "waiting", "failed"]);

/** Functions with which an exchange reports. */
export interface Reporter {
  readonly report: Report;
  readonly identity: ExchangeIdentity;
  readonly live: LiveReport | null;
}

/** Reports events of an exchange that has no record yet, also to the feed if there is one. */
export function createReporter(
  listener: ExchangeListener,
  { session_id, feed }: { readonly session_id: string; readonly feed: Feed | undefined },
): Reporter {
  const identity: ExchangeIdentity = { exchange_id: newId(), session_id };
  const live = feed?.open(session_id) ?? null;
  const both: ExchangeListener = (event) => {
    live?.heard(event);
    listener(event);
  };
  return { report: createReport(both, identity), identity, live };
}

/**
 * Gives events their identity, and texts the form in which they are stored. A stored message is
 * reported once; after the event that ends the exchange, nothing more is reported.
 */
export function createReport(listener: ExchangeListener, identity: ExchangeIdentity): Report {
  const stored = new Set<string>();
  let isOver = false;
  return (event) => {
    if (isOver || (event.type === "message" && stored.has(event.message_id))) {
      return;
    }
    if (event.type === "message") {
      stored.add(event.message_id);
    }
    isOver = ENDS.has(event.type);
    // the type comes first for people who read the events as lines of JSON
    const first = { type: event.type };
    listener({ ...first, ...identity, ...storableValue(event) });
  };
}

/** Runs an exchange and reports how it ended. */
export async function reportEnd(
  report: Report,
  run: () => Promise<ExchangeResult>,
): Promise<ExchangeResult> {
  try {
    const result = await run();
    const { last_seq, total_input_tokens, total_output_tokens } = result.session;
    report({
      type: result.state,
      message_id: lastAnswerOf(result)?.message_id ?? null,
      last_seq,
      total_input_tokens,
      total_output_tokens,
    });
    return result;
  } catch (error) {
    const { code, sentence: detail, resets_at = null } = failureOf(error);
    report({ type: "failed", code, detail, ...(resets_at === null ? {} : { resets_at }) });
    throw error;
  }
}

function lastAnswerOf({ messages }: ExchangeResult): Message | undefined {
  return messages.findLast(({ role, is_summary }) => role === "assistant" && !is_summary);
}

/** Reports messages that have a row now. */
export function reportStored(report: Report, messages: readonly StoredMessage[]): void {
  for (const { message_id, seq, role, is_summary, call_id = null } of messages) {
    report({ type: "message", message_id, call_id, seq, role, is_summary });
  }
}
