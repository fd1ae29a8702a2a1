import { isRepriseError } from "../../core/errors.ts";
import { createExchangeEnd } from "../../core/exchange-end.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { readExchange } from "../../store/exchanges/read.ts";
import type { Store } from "../../store/store.ts";
import type { LiveStreams } from "../live/live-streams.ts";
import type { PagesInTurn } from "../unsent/pages-in-turn.ts";
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

/** How often it is read whether a message that waits was withdrawn: no event says so. */
const QUEUED_MS = 5000;

interface Reading {
  readonly store: Store;
  readonly live: Pick<LiveStreams, "events">;
  readonly pages: PagesInTurn;
}

/**
 * Follows an exchange until it has ended, waits for an answer, or only a person can continue it. One that is queued is
 * waited for. It ends without `end` once the signal is aborted or the session is deleted.
 *
 * Error codes: `exchange_not_found`, `database_*`.
 */
export async function* followExchange(
  reading: Reading,
  followed: FollowedExchange,
  signal: AbortSignal,
): AsyncGenerator<ExchangeBegin | ExchangeStep | ExchangeEnd> {
  try {
    yield* follow(reading, followed, signal);
  } catch (error) {
    if (!isRepriseError(error, "session_not_found")) {
      throw error;
    }
  }
}

async function* follow(
  { store, live, pages }: Reading,
  followed: FollowedExchange,
  signal: AbortSignal,
): AsyncGenerator<ExchangeBegin | ExchangeStep | ExchangeEnd> {
  const { session_id, n, calls } = followed;
  const read = () => store.read(readExchange, { reference: session_id, n });
  const begun = await untilBegun(live, followed, { read, signal });
  if (signal.aborted) {
    return;
  }
  if (begun.first_seq === null) {
    // it ended before it began
    yield { type: "end", exchange: begun };
    return;
  }
  const after_seq = followed.after_seq ?? begun.first_seq - 1;
  yield { type: "begin", after_seq };
  const end = createExchangeEnd(n, after_seq);
  const steps = createExchangeSteps(n, calls);
  const place = { session_id, after_seq, all: true, signal };
  const inTurn = { read: pages.readValue, taken: pages.taken };
  for await (const event of live.events({ ...place, pages: inTurn })) {
    if (end.mayBeOver(event)) {
      end.update(await read());
    }
    if (!end.isAfter(event)) {
      yield* steps.of(event);
    }
    if (end.isOver) {
      const exchange = await read();
      yield* steps.end(exchange.state === "waiting");
      yield { type: "end", exchange };
      return;
    }
  }
}

/** The exchange once it no longer waits for its turn, or the signal is aborted. */
async function untilBegun(
  live: Reading["live"],
  { session_id, after_seq }: FollowedExchange,
  { read, signal }: { readonly read: () => Promise<ExchangeRecord>; readonly signal: AbortSignal },
): Promise<ExchangeRecord> {
  let exchange = await read();
  const place = { session_id, after_seq: after_seq ?? Number.MAX_SAFE_INTEGER, all: true };
  while (exchange.state === "queued" && !signal.aborted) {
    const turn = AbortSignal.any([signal, AbortSignal.timeout(QUEUED_MS)]);
    for await (const { event } of live.events({ ...place, signal: turn })) {
      exchange = event === "snapshot" || event === "exchange" ? await read() : exchange;
      if (exchange.state !== "queued") {
        break;
      }
    }
    exchange = await read();
  }
  return exchange;
}
