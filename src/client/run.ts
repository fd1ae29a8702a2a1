import { followExchange } from "../core/follow-exchange.ts";
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
  const read = () => untilReached(() => client.getExchange(session_id, n), options);
  const live = (afterSeq: number | null, signal?: AbortSignal) =>
    client.live(session_id, {
      ...options,
      ...(signal === undefined ? {} : { signal }),
      ...(afterSeq === null ? {} : { all: true, afterSeq }),
    });
  for await (const step of followExchange({ read, live }, { n, signal: options.signal })) {
    if (step.event === "over") {
      return step.exchange;
    }
    if (step.event !== "queued" && step.event !== "begun") {
      yield step;
    }
  }
  return read();
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
