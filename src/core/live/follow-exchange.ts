import { createExchangeEnd } from "../schemas/exchange-end.ts";
import type { LiveEvent } from "../schemas/live.ts";
import type { ExchangeInfo } from "../schemas/schemas.ts";

/** Fields that are read of an exchange that is followed. */
type ReadExchange = Pick<ExchangeInfo, "state" | "first_seq" | "last_seq" | "queued_at">;

/** How an exchange is read. */
export interface ExchangeReads<Exchange extends ReadExchange> {
  /** Reads the exchange now. */
  read(): Promise<Exchange>;
  /** The live feed of its session, archived messages included, after a message; with what is new for null. */
  live(after_seq: number | null, signal: AbortSignal | undefined): AsyncIterable<LiveEvent>;
}

/** Step of a reader of one exchange: an event of the live feed, or where the exchange is. */
export type FollowStep<Exchange> =
  | LiveEvent
  /** Waits for its turn; something happened in the session, or some seconds have passed. */
  | { readonly event: "queued"; readonly exchange: Exchange }
  /** Has begun; its events follow, with the messages after this one. */
  | { readonly event: "begun"; readonly exchange: Exchange; readonly after_seq: number }
  /** The last step: it has ended, waits for an answer, or only a person can continue it. */
  | { readonly event: "over"; readonly exchange: Exchange };

export interface Followed {
  readonly n: number;
  /** Begins after this message; with the first of the exchange by default. */
  readonly after_seq?: number | null;
  /** True to wait on while only a person can continue the exchange. */
  readonly outlastsInterruption?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** How often it is read whether an exchange that waits was withdrawn: no event says so. */
const QUEUED_MS = 5000;

/**
 * Follows an exchange to its end. One that ended before it began has neither `begun` nor events. It ends without `over`
 * if the live feed does: the session was deleted, or the signal is aborted and `live` does not throw then.
 *
 * Throws as `read` and `live`.
 */
export async function* followExchange<Exchange extends ReadExchange>(
  reads: ExchangeReads<Exchange>,
  followed: Followed,
): AsyncGenerator<FollowStep<Exchange>, void> {
  const { n, signal, outlastsInterruption = false } = followed;
  const begun = yield* untilBegun(reads, signal);
  if (signal?.aborted === true) {
    return;
  }
  if (begun.first_seq === null) {
    yield { event: "over", exchange: begun };
    return;
  }
  const after_seq = followed.after_seq ?? begun.first_seq - 1;
  yield { event: "begun", exchange: begun, after_seq };
  const end = createExchangeEnd(n, after_seq);
  for await (const event of reads.live(after_seq, signal)) {
    if (end.mayBeOver(event)) {
      const exchange = await reads.read();
      const isAtWork = outlastsInterruption && exchange.state === "interrupted";
      end.update(isAtWork ? { ...exchange, state: "running" } : exchange);
    }
    if (!end.isAfter(event)) {
      yield event;
    }
    if (end.isOver) {
      yield { event: "over", exchange: await reads.read() };
      return;
    }
  }
}

/** The exchange once it no longer waits for its turn, or the signal is aborted. */
async function* untilBegun<Exchange extends ReadExchange>(
  { read, live }: ExchangeReads<Exchange>,
  signal: AbortSignal | undefined,
): AsyncGenerator<FollowStep<Exchange>, Exchange> {
  let exchange = await read();
  while (exchange.state === "queued" && signal?.aborted !== true) {
    yield { event: "queued", exchange };
    const turn = AbortSignal.timeout(QUEUED_MS);
    const either = signal === undefined ? turn : AbortSignal.any([signal, turn]);
    try {
      for await (const { event } of live(null, either)) {
        if (event === "snapshot" || event === "exchange" || event === "question") {
          exchange = await read();
          if (exchange.state !== "queued") {
            return exchange;
          }
          yield { event: "queued", exchange };
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!turn.aborted) {
        throw error;
      }
    }
    exchange = await read();
  }
  return exchange;
}
