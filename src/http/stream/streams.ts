import type { ServerResponse } from "node:http";

import type { Store } from "../../store/store.ts";
import { createDeadlines } from "./deadlines.ts";
import { createHeartbeats } from "./heartbeats.ts";
import type { Observe } from "../metrics/observation.ts";
import { sendMessages, type StreamEnd } from "./stream.ts";
import { createPageReader, type EventPage, type StreamPosition } from "./stream-pages.ts";
import { createStreamWriter } from "./stream-writer.ts";
import { createSessionWatcher } from "./session-watcher.ts";

export const EVENT_STREAM = "text/event-stream";

export interface Streams {
  /** Streams that are open, and sessions that are watched for them. */
  readonly open: number;
  readonly watched: number;
  /**
   * Answers with a stream from the position on, or with `nothing left` and no response if the
   * session has ended and nothing follows. A failure after the answer began cuts the
   * connection: the client resumes by its last id.
   *
   * Error codes: `session_not_found`, `database_*`, before anything is answered.
   */
  serve(request: StreamRequest): Promise<"nothing left" | "served">;
  /**
   * False for an ended session with nothing after the position: `serve` would send nothing.
   *
   * Error codes: `session_not_found`, `database_*`.
   */
  hasMore(position: StreamPosition): Promise<boolean>;
  /**
   * Closes the connection of every stream after a whole message, without the end of its answer, so
   * that clients reconnect; refuses new ones. Idempotent.
   */
  close(): Promise<void>;
}

export interface StreamRequest {
  readonly position: StreamPosition;
  readonly response: ServerResponse;
  /** What every answer carries. */
  readonly headers: Readonly<Record<string, string | number | string[] | undefined>>;
  /** The request's id in the log. */
  readonly id: string;
  /** Called once the answer is a stream: what follows is no longer the caller's. */
  readonly begin: () => void;
}

export interface StreamSettings {
  /** Bytes of content that a stream reads at once at most; one larger message comes alone. */
  readonly unsentBytes: number;
  /** A client that takes nothing for so many milliseconds is cut. */
  readonly stallMs: number;
  readonly pollMs: number;
  /** No stream is silent for longer, in milliseconds. */
  readonly heartbeatMs: number;
}

export interface StreamsOptions extends StreamSettings {
  readonly store: Store;
  readonly observe: Observe;
  /** With the id of the request whose stream failed, if it was one. */
  readonly onFailure: (error: unknown, id?: string) => void;
}

/** A client's time in ticks of the timer that all share. */
const STALL_TICKS = 10;

export function createStreams(options: StreamsOptions): Streams {
  const watch = createSessionWatcher(options);
  const heartbeats = createHeartbeats(options.heartbeatMs);
  const stalls = createDeadlines<ServerResponse>(
    // cut at most one tick late
    { tickMs: options.stallMs / STALL_TICKS, ticks: STALL_TICKS + 1 },
    (response) => {
      options.observe({ kind: "stalled" });
      response.destroy();
    },
  );
  const readPage = createPageReader(options.store, options.unsentBytes);
  // a separate controller per stream: `AbortSignal.any` would cost 1 KB each
  const running = new Map<AbortController, Promise<void>>();
  let stopping = false;

  const run = async (request: StreamRequest): Promise<"nothing left" | "served"> => {
    const { position, response } = request;
    const subscription = watch.subscribe(position.session_id);
    try {
      let first: EventPage | null = await readPage(position);
      if (isOver(first)) {
        return "nothing left";
      }
      request.begin();
      if (stopping) {
        // no status would do: an EventSource gives up for ever on all but 200
        response.destroy();
        return "served";
      }
      const takeFirst = (): EventPage | null => {
        const page = first;
        first = null;
        return page;
      };
      const over = new AbortController();
      const { signal } = over;
      const send = (): Promise<StreamEnd> => {
        const write = createStreamWriter(response, stalls);
        heartbeats.begin(response);
        return sendMessages({
          readPage,
          observe: options.observe,
          subscription,
          position,
          takeFirst,
          signal,
          write: (bytes) => {
            heartbeats.begin(response);
            return write(bytes);
          },
        });
      };
      const sent = answer(request, over, send)
        .catch((error: unknown) => options.onFailure(error, request.id))
        .finally(() => heartbeats.end(response));
      running.set(over, sent);
      await sent;
      running.delete(over);
      return "served";
    } finally {
      subscription.close();
    }
  };

  return {
    get open() {
      return running.size;
    },
    get watched() {
      return watch.watched;
    },
    serve: run,
    hasMore: async (position) => !isOver(await readPage(position)),
    close: async () => {
      stopping = true;
      for (const over of running.keys()) {
        over.abort();
      }
      await Promise.all(running.values());
      watch.close();
    },
  };
}

function isOver({ state, bytes }: EventPage): boolean {
  return state === "ended" && bytes === null;
}

/**
 * Begins the answer and sends. The answer is completed only if nothing is left to send: a cut one
 * makes the client reconnect. `over` is aborted once the client is gone.
 */
async function answer(
  { response, headers }: StreamRequest,
  over: AbortController,
  send: () => Promise<StreamEnd>,
): Promise<void> {
  // writing to a connection that was just closed is not an error
  response.on("error", () => over.abort());
  response.once("close", () => over.abort());
  if (response.destroyed) {
    return;
  }
  beginStream(response, headers);
  response.flushHeaders();
  try {
    if ((await send()) === "complete") {
      response.end();
    } else {
      // all that was written is sent before the connection closes
      response.socket?.destroySoon();
    }
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/** Writes the head of a stream's answer. */
export function beginStream(response: ServerResponse, headers: StreamRequest["headers"]): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) {
      response.setHeader(name, value);
    }
  }
  response.writeHead(200, {
    "content-type": EVENT_STREAM,
    // a stream's connection carries nothing else, so that ending the stream closes it
    connection: "close",
    "x-accel-buffering": "no",
  });
}
