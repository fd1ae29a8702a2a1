import type { ServerResponse } from "node:http";

import type { Observe } from "../observation.ts";
import type { StreamPagesInTurn } from "../unsent/pages-in-turn.ts";
import { createOneByOne } from "../unsent/one-by-one.ts";
import { createDeadlines } from "../unsent/deadlines.ts";
import { createHeartbeats } from "./heartbeats.ts";
import { StreamOutput } from "./stream-output.ts";

export const EVENT_STREAM = "text/event-stream";

/** Why a stream sends nothing more: nothing is left, or its signal was aborted. */
export type StreamEnd = "complete" | "aborted";

/** A request that is answered with a stream. */
export interface StreamAnswer {
  readonly response: ServerResponse;
  /** What every answer carries. */
  readonly headers: Readonly<Record<string, string | number | string[] | undefined>>;
  /** The request's id in the log. */
  readonly id: string;
  /** Called once the answer is a stream: what follows is no longer the caller's. */
  readonly begin: () => void;
  /** Pages that it reads to catch up. */
  readonly pages: StreamPagesInTurn;
}

export interface OpenAnswers {
  readonly open: number;
  /** Begins the answer and sends until the client is gone or `send` has resolved. Never throws. */
  run(answer: StreamAnswer, send: (output: StreamOutput) => Promise<StreamEnd>): Promise<void>;
  /** See `Streams.close`. */
  close(): Promise<void>;
}

export interface OpenAnswersOptions {
  /** A client that takes nothing for so many milliseconds is cut. */
  readonly stallMs: number;
  /** No stream is silent for longer, in milliseconds. */
  readonly heartbeatMs: number;
  readonly observe: Observe;
  /** With the id of the request whose stream failed, if it was one. */
  readonly onFailure: (error: unknown, id?: string) => void;
}

/** A client's time in ticks of the timer that all share. */
const STALL_TICKS = 10;

/** The answers that are streams and are not over: their heartbeats, their stalled clients, and their end. */
export function createOpenAnswers(options: OpenAnswersOptions): OpenAnswers {
  const heartbeats = createHeartbeats(options.heartbeatMs);
  const inTurn = createOneByOne();
  const stalls = createDeadlines<ServerResponse>(
    // cut at most one tick late
    { tickMs: options.stallMs / STALL_TICKS, ticks: STALL_TICKS + 1 },
    (response) => {
      options.observe({ kind: "stalled" });
      // of many that began together, none delays what others wait for
      void inTurn(() => response.destroy());
    },
  );
  const timers = { heartbeats, stalls };
  const running = new Set<StreamOutput>();
  const noneLeft = Promise.withResolvers<void>();
  let stopping = false;
  const stopIfNoneLeft = (): void => {
    if (stopping && running.size === 0) {
      noneLeft.resolve();
    }
  };

  return {
    get open() {
      return running.size;
    },
    run: async (answer, send) => {
      const { response, pages } = answer;
      answer.begin();
      if (stopping) {
        // no status would do: an EventSource gives up for ever on all but 200
        response.destroy();
        return;
      }
      const output = new StreamOutput(response, pages, timers);
      running.add(output);
      try {
        if (!response.destroyed) {
          beginStream(response, answer.headers);
          response.flushHeaders();
          heartbeats.begin(response);
          end(response, await send(output));
        }
      } catch (error) {
        response.destroy();
        options.onFailure(error, answer.id);
      } finally {
        heartbeats.end(response);
        running.delete(output);
        stopIfNoneLeft();
      }
    },
    close: () => {
      stopping = true;
      for (const output of running) {
        output.abort();
      }
      stopIfNoneLeft();
      return noneLeft.promise;
    },
  };
}

/** Completes the answer only if nothing is left to send: a cut one makes the client reconnect. */
function end(response: ServerResponse, streamEnd: StreamEnd): void {
  if (streamEnd === "complete") {
    response.end();
  } else {
    // all that was written is sent before the connection closes
    response.socket?.destroySoon();
  }
}

/** Writes the head of a stream's answer. */
export function beginStream(response: ServerResponse, headers: StreamAnswer["headers"]): void {
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
