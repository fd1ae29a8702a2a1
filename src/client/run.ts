import { createExchangeEnd } from "../core/schemas/exchange-end.ts";
import type { LiveEvent } from "../core/schemas/live.ts";
import type { ExchangeInfo } from "../core/schemas/schemas.ts";
import { ClientError } from "./client-error.ts";
import type { LiveOptions, ResumeOptions } from "./follow.ts";
import { sleep } from "./sleep.ts";

export interface RunOptions extends Omit<ResumeOptions, "all"> {
  /** A run that is repeated with the same key sends nothing, and follows what the first one sent. */
  readonly idempotencyKey?: string;
  /** True to withdraw open questions, for whose answers the message would wait. */
  readonly supersede?: boolean;
}

/** Calls of the client that a run makes. */
interface RunCalls {
  queueExchange(
    id: string,
    content: string,
    options: { idempotencyKey: string; supersede: boolean },
  ): Promise<Pick<ExchangeInfo, "session_id" | "n">>;
  getExchange(id: string, n: number): Promise<ExchangeInfo>;
  live(id: string, options: LiveOptions): AsyncGenerator<LiveEvent, void>;
}

/** Attempts to send the message while the service cannot be reached. */
const ATTEMPTS = 10;
/** How often it is read whether a message that waits was withdrawn: no event says so. */
const QUEUED_MS = 5000;

/**
 * Sends a message and yields what happens in the session while it is answered, across lost connections and other
 * nodes: see `Client.live`. It returns the exchange once it has ended or waits for an answer, or if only a person can
 * continue it. After an answer to its questions, call it again with the same `idempotencyKey`: it begins at the
 * exchange's first message.
 *
 * Throws as `queueExchange` and `live`.
 */
export async function* runExchange(
  client: RunCalls,
  id: string,
  content: string,
  { idempotencyKey = crypto.randomUUID(), supersede = false, ...options }: RunOptions,
): AsyncGenerator<LiveEvent, ExchangeInfo> {
  const send = () => client.queueExchange(id, content, { idempotencyKey, supersede });
  const { session_id, n } = await untilReached(send, options);
  const begun = await untilBegun(client, session_id, n, options);
  if (begun.first_seq === null) {
    // over before it began
    return begun;
  }
  const afterSeq = begun.first_seq - 1;
  const end = createExchangeEnd(n, afterSeq);
  const read = () => client.getExchange(session_id, n);
  for await (const event of client.live(session_id, { ...options, all: true, afterSeq })) {
    if (end.mayBeOver(event)) {
      end.update(await untilReached(read, options));
    }
    if (!end.isAfter(event)) {
      yield event;
    }
    if (end.isOver) {
      break;
    }
  }
  return untilReached(read, options);
}

/** The exchange once it no longer waits for its turn. */
async function untilBegun(
  client: RunCalls,
  id: string,
  n: number,
  options: ResumeOptions,
): Promise<ExchangeInfo> {
  const read = () => untilReached(() => client.getExchange(id, n), options);
  let exchange = await read();
  while (exchange.state === "queued") {
    const turn = AbortSignal.timeout(QUEUED_MS);
    const signal = options.signal === undefined ? turn : AbortSignal.any([options.signal, turn]);
    try {
      for await (const { event } of client.live(id, { ...options, signal })) {
        exchange = event === "snapshot" || event === "exchange" ? await read() : exchange;
        if (exchange.state !== "queued") {
          return exchange;
        }
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!turn.aborted) {
        throw error;
      }
    }
    exchange = await read();
  }
  return exchange;
}

/** Repeats a request that is safe to repeat. */
async function untilReached<Output>(
  request: () => Promise<Output>,
  { signal, onLost, pauseMs = { first: 250, longest: 10_000 } }: ResumeOptions,
): Promise<Output> {
  let pause = pauseMs.first;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await request();
    } catch (error) {
      // a `bad_answer` to what succeeded may be one that was cut
      const isLost = error instanceof ClientError && (error.status < 400 || error.status >= 500);
      if (!isLost || attempt === ATTEMPTS) {
        throw error;
      }
      onLost?.(error);
    }
    await sleep(pause * (0.5 + Math.random() / 2), signal);
    pause = Math.min(pause * 2, pauseMs.longest);
  }
}
