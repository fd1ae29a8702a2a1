import type { ExchangeRecord } from "../../core/sessions.ts";
import { readExchange } from "../../store/exchanges/read.ts";
import type { Store } from "../../store/store.ts";
import type { LiveStreams } from "../live/live-streams.ts";
import { createExchangeSteps, type ExchangeStep } from "./exchange-steps.ts";

export interface FollowedExchange {
  readonly session_id: string;
  readonly n: number;
  /** Begins after this message; null for all of the exchange. */
  readonly after_seq: number | null;
  /** Calls of the exchange that came before. */
  readonly calls: readonly string[];
}

/** The first step: the exchange has begun, and what follows comes after this message. */
export interface ExchangeBegin {
  readonly type: "begin";
  readonly after_seq: number;
}

/** The last step: what became of the exchange. */
export interface ExchangeEnd {
  readonly type: "end";
  readonly exchange: ExchangeRecord;
}

/**
 * Follows an exchange until it has ended, waits for an answer, or lost its process. One that is queued is waited
 * for. It ends without `end` once the signal is aborted or the session is deleted.
 *
 * Error codes: `exchange_not_found`, `session_not_found`, `database_*`.
 */
export async function* followExchange(
  { store, live }: { readonly store: Store; readonly live: Pick<LiveStreams, "events"> },
  { session_id, n, after_seq, calls }: FollowedExchange,
  signal: AbortSignal,
): AsyncGenerator<ExchangeBegin | ExchangeStep | ExchangeEnd> {
  const read = () => store.read(readExchange, { reference: session_id, n });
  let exchange = await read();
  if (exchange.state === "queued") {
    const after = after_seq ?? Number.MAX_SAFE_INTEGER;
    for await (const { event } of live.events({
      session_id,
      after_seq: after,
      all: true,
      signal,
    })) {
      exchange = event === "exchange" ? await read() : exchange;
      if (exchange.state !== "queued") {
        break;
      }
    }
  }
  if (signal.aborted) {
    return;
  }
  if (exchange.first_seq === null) {
    // it ended before it began
    yield { type: "end", exchange };
    return;
  }
  const from = after_seq ?? exchange.first_seq - 1;
  yield { type: "begin", after_seq: from };
  const steps = createExchangeSteps({ n, after_seq: from, calls });
  for await (const event of live.events({ session_id, after_seq: from, all: true, signal })) {
    yield* steps.of(event);
    if (steps.isOver) {
      yield { type: "end", exchange: await read() };
      return;
    }
  }
}
