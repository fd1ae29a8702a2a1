import type { LiveEvent } from "../core/live.ts";
import type { ExchangeInfo } from "../core/schemas.ts";
import { ClientError } from "./client-error.ts";
import type { LiveOptions, ResumeOptions } from "./follow.ts";
import { sleep } from "./sleep.ts";

export interface RunOptions extends Omit<ResumeOptions, "all"> {
  /** A run that is repeated with the same key sends nothing, and follows what the first one sent. */
  readonly idempotencyKey?: string;
  /** True to withdraw open questions, for whose answers the message would wait. */
  readonly supersede?: boolean;
}

/** What a run calls of the client. */
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

/**
 * Sends a message and yields what happens in the session while it is answered, across lost connections and other
 * nodes: see `Client.live`. It returns the exchange once it has ended, waits for an answer, or was interrupted.
 * After an answer to its questions, call it again with the same `idempotencyKey`: it begins at the exchange's
 * first message.
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
    // it ended before it began
    return begun;
  }
  let seq = begun.first_seq - 1;
  /** The exchange is over once the messages up to this one have come. */
  let until: number | null = null;
  let hasAnswer = false;
  const live = client.live(session_id, { ...options, all: true, afterSeq: seq });
  for await (const event of live) {
    const { event: name, data } = event;
    if (name === "message") {
      if (data.role === "user" && hasAnswer) {
        // the next exchange has begun
        break;
      }
      hasAnswer ||= data.role === "assistant";
      ({ seq } = data);
    } else if (name === "exchange" && isOver(data, n)) {
      until = seq;
    } else if (name === "snapshot" && data.exchange !== null && isOver(data.exchange, n)) {
      until = data.last_seq;
    }
    yield event;
    if (until !== null && seq >= until) {
      break;
    }
  }
  return untilReached(() => client.getExchange(session_id, n), options);
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
  if (exchange.state === "queued") {
    for await (const { event } of client.live(id, options)) {
      exchange = event === "snapshot" || event === "exchange" ? await read() : exchange;
      if (exchange.state !== "queued") {
        break;
      }
    }
  }
  return exchange;
}

function isOver(exchange: ExchangeInfo, n: number): boolean {
  const isAtWork = exchange.state === "queued" || exchange.state === "running";
  return exchange.n > n || (exchange.n === n && !isAtWork);
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
      // a `bad_answer` may be one that was cut
      const isLost =
        error instanceof ClientError &&
        (error.status === 0 || error.status >= 500 || error.code === "bad_answer");
      if (!isLost || attempt === ATTEMPTS) {
        throw error;
      }
      onLost?.(error);
    }
    await sleep(pause * (0.5 + Math.random() / 2), signal);
    pause = Math.min(pause * 2, pauseMs.longest);
  }
}
