import { createParser, type EventSourceMessage } from "eventsource-parser";

import type { LiveEvent } from "../core/schemas/live.ts";
import type { MessageInfo } from "../core/schemas/schemas.ts";
import type { SessionEvent } from "../core/schemas/session-events.ts";
import { badAnswer, ClientError, errorOf } from "./client-error.ts";
import type { CallOptions, Connection } from "./connection.ts";
import { sleep } from "./sleep.ts";

export interface ResumeOptions {
  /** True to see archived messages too. */
  readonly all?: boolean;
  /** Ends the generator, with the signal's own reason thrown. */
  readonly signal?: AbortSignal;
  /** The pause before a new attempt: it doubles from the first to the longest. In milliseconds. */
  readonly pauseMs?: { readonly first: number; readonly longest: number };
  /** A stream that is silent for so long is dead: the service sends a comment every 15 s. */
  readonly silenceMs?: number;
  /** Called for each lost connection, before the pause. */
  readonly onLost?: (error: unknown) => void;
}

export interface FollowOptions extends ResumeOptions {
  /** Begins after this position. Default: at the first message. */
  readonly lastSeq?: number;
}

export interface LiveOptions extends ResumeOptions {
  /** The id of the last event received: continues after it. */
  readonly after?: string;
  /** Without `after`: begins after this message. Default: with what is new. */
  readonly afterSeq?: number;
}

export interface EventsOptions extends Omit<ResumeOptions, "all"> {
  /** The id of the last event received: continues after it. */
  readonly after?: string;
}

const PAUSE_MS = { first: 250, longest: 10_000 };
const SILENCE_MS = 45_000;

/**
 * Follows a session: yields each message once, in order of `seq`, across lost connections and
 * restarts of the service, and returns once the session has ended and all is read. Each new
 * connection begins after the last message received, so nothing is lost or repeated.
 *
 * Throws a ClientError for what another attempt would not fix (every 4xx but 408 and 429), and
 * the signal's reason when it is aborted.
 */
export async function* followStream(
  connection: Connection,
  path: string,
  { lastSeq, all, ...options }: FollowOptions,
): AsyncGenerator<MessageInfo, void> {
  let last: number | null = null;
  const query = { last_seq: lastSeq, all };
  for await (const { event, data } of resumeEvents(connection, path, { ...options, query })) {
    if ((event ?? "message") === "message") {
      const message = parse(data) as MessageInfo;
      if (last === null || message.seq > last) {
        last = message.seq;
        yield message;
      }
    }
  }
}

/**
 * Follows what happens in a session now, as `followStream`. A `snapshot` comes first, and again after each lost
 * connection: it has the current states, and its `text` continues what was received.
 */
export async function* followLive(
  connection: Connection,
  path: string,
  { after, afterSeq, all, ...options }: LiveOptions,
): AsyncGenerator<LiveEvent, void> {
  const resumed = { ...options, after, query: { after_seq: afterSeq, all } };
  for await (const { id, event, data } of resumeEvents(connection, path, resumed)) {
    yield { id, event, data: parse(data) } as LiveEvent;
  }
}

/**
 * Follows what changes in all sessions, until the signal is aborted. `reset` comes first, unless it continues `after` an
 * event: who gets it reads the list of sessions again. All else is kept across lost connections.
 */
export async function* followEvents(
  connection: Connection,
  { after, ...options }: EventsOptions,
): AsyncGenerator<SessionEvent, void> {
  const resumed = { ...options, after, query: {} };
  for await (const { id, event, data } of resumeEvents(connection, "/api/events", resumed)) {
    yield { id, event, data: parse(data) } as SessionEvent;
  }
}

interface Resumed extends Omit<ResumeOptions, "all"> {
  readonly after?: string | undefined;
  readonly query: NonNullable<CallOptions["query"]>;
}

type Received = Pick<EventSourceMessage, "id" | "event" | "data">;

/** The events of a stream, each connection after the last id received, until nothing is left. */
async function* resumeEvents(
  connection: Connection,
  path: string,
  options: Resumed,
): AsyncGenerator<Received, void> {
  const longest = options.pauseMs?.longest ?? PAUSE_MS.longest;
  const first = options.pauseMs?.first ?? PAUSE_MS.first;
  let last = options.after;
  let pause = first;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      for await (const received of readOnce(connection, path, { ...options, after: last })) {
        if (received === "ended") {
          return;
        }
        pause = first;
        last = received.id ?? last;
        yield received;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isWorthAnotherAttempt(error)) {
        throw error;
      }
      options.onLost?.(error);
    }
    await sleep(pause * (0.5 + Math.random() / 2), options.signal);
    pause = Math.min(pause * 2, longest);
  }
}

/** Reads one connection: its events, then "ended" if the service says that there is nothing left. */
async function* readOnce(
  connection: Connection,
  path: string,
  attempt: Resumed,
): AsyncGenerator<Received | "ended", void> {
  const silence = new AbortController();
  const signal =
    attempt.signal === undefined
      ? silence.signal
      : AbortSignal.any([attempt.signal, silence.signal]);
  const listen = (): ReturnType<typeof setTimeout> =>
    setTimeout(() => silence.abort(), attempt.silenceMs ?? SILENCE_MS);
  let timer = listen();
  try {
    const answer = await connection.open("GET", path, {
      query: attempt.query,
      headers: { accept: "text/event-stream", "last-event-id": attempt.after },
      signal,
    });
    if (answer.status === 204) {
      yield "ended";
      return;
    }
    const source = await bodyOf(answer);
    const decoder = new TextDecoder();
    const received: Received[] = [];
    const parser = createParser({ onEvent: (event) => received.push(event) });
    const next = () => source.read().catch(lostConnection);
    for (let piece = await next(); !piece.done; piece = await next()) {
      // the time that the reader spends between two events does not count as silence
      clearTimeout(timer);
      parser.feed(decoder.decode(piece.value, { stream: true }));
      yield* received.splice(0);
      timer = listen();
    }
  } finally {
    clearTimeout(timer);
    // a generator that is left early leaves no connection behind
    silence.abort();
  }
}

/** The service stopped, cut a reader that was too slow, or the network failed. */
function lostConnection(cause: unknown): never {
  throw new ClientError(
    "unreachable",
    "The connection to the service was lost; ask again from the last message received.",
    { status: 0, cause },
  );
}

/** A reader and no `for await`: not every browser iterates over a body. */
async function bodyOf(answer: Response) {
  if (!answer.ok) {
    throw await errorOf(answer);
  }
  const type = answer.headers.get("content-type") ?? "";
  if (answer.body === null || !type.startsWith("text/event-stream")) {
    throw badAnswer(answer.status);
  }
  return answer.body.getReader();
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw badAnswer(200, cause);
  }
}

function isWorthAnotherAttempt(error: unknown): boolean {
  return (
    !(error instanceof ClientError) || [0, 408, 429].includes(error.status) || error.status >= 500
  );
}
