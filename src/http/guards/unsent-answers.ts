import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { RepriseError } from "../../core/errors.ts";
import {
  ANSWER_STALL_MS,
  LARGE_ANSWER_BYTES,
  MAX_DETAIL_BYTES,
  MAX_UNSENT_BYTES,
  VISITOR_PAGE_BYTES,
} from "../../core/limits.ts";
import { createDeadlines } from "../stream/deadlines.ts";

export interface UnsentSettings {
  /** Bytes of large answers that clients have not taken, at most. */
  readonly maxBytes: number;
  /** A client that takes nothing for so many milliseconds is cut. */
  readonly stallMs: number;
}

export interface UnsentAnswers {
  /** Bytes that are held now. */
  readonly bytes: number;
  /**
   * Returns how many bytes of content the answer's page may hold, and keeps them for it: the fewer, the more of the
   * budget is taken. So clients that do not read make pages smaller, and nobody waits.
   */
  pageBytes(request: FastifyRequest, reply: FastifyReply): number;
}

/** Bytes given to the response at once: each slice that it takes is progress. */
const SLICE_BYTES = 64 * 1024;
/** Parts of the budget that one page may take at most. */
const PAGES = 4;
/** An answer's time in ticks of the timer that all share. */
const STALL_TICKS = 10;
/** While the budget is used up, an answer that paused for so long, or is as old and slower, gives its bytes back. */
const SLOW_MS = 2000;
const SLOW_BYTES_PER_MS = 64;

interface Held {
  readonly bytes: number;
  readonly begun: number;
  progressed: number;
  taken: number;
}

/**
 * Bounds what waits for clients that do not read: a large answer is handed over in slices and counts until it was
 * taken, and a connection that takes nothing of an answer, also of a small one, is closed. Streams of events bound
 * themselves. Must be called before every hook that refuses a request, and before the routes are added.
 */
export function limitUnsent(
  app: FastifyInstance,
  { maxBytes = MAX_UNSENT_BYTES, stallMs = ANSWER_STALL_MS }: Partial<UnsentSettings> = {},
): UnsentAnswers {
  const held = createHeldAnswers(maxBytes);
  const stalls = createDeadlines<ServerResponse>(
    { tickMs: stallMs / STALL_TICKS, ticks: STALL_TICKS + 1 },
    cut,
  );
  app.addHook("onRequest", (_request, { raw: response }, done) => {
    response.once("close", () => {
      stalls.end(response);
      held.release(response);
    });
    done();
  });
  app.addHook("onSend", (_request, { raw: response }, payload, done) => {
    stalls.begin(response);
    done(null, payload);
  });
  const slices = (response: ServerResponse, bytes: Buffer): Readable =>
    Readable.from(
      (function* () {
        for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
          stalls.begin(response);
          held.take(response, SLICE_BYTES);
          yield bytes.subarray(at, at + SLICE_BYTES);
        }
      })(),
      { highWaterMark: 1 },
    );
  app.addHook("onRoute", (route) => {
    const slice = (
      { method }: FastifyRequest,
      reply: FastifyReply,
      payload: unknown,
      done: (error: Error | null, payload?: unknown) => void,
    ): void => {
      // bytes are those of files, which are in memory anyway
      const isHeld = typeof payload === "string" && method !== "HEAD";
      if (!isHeld || payload.length <= LARGE_ANSWER_BYTES) {
        held.release(reply.raw);
        done(null, payload);
        return;
      }
      // of a string, the socket would keep a copy of three times its length
      const bytes = Buffer.from(payload);
      if (!held.add(reply.raw, bytes.length)) {
        done(tooBusy());
        return;
      }
      reply.header("content-length", bytes.length);
      done(null, slices(reply.raw, bytes));
    };
    // before compression, which takes slices too
    route.onSend = [slice, ...[route.onSend ?? []].flat()];
  });
  return {
    get bytes() {
      return held.bytes;
    },
    pageBytes: (request, { raw: response }) => {
      const free = maxBytes - held.bytes;
      const isSmall = request.principal.role === "visitor" || free < maxBytes / 2;
      const whole = Math.min(isSmall ? VISITOR_PAGE_BYTES : MAX_DETAIL_BYTES, maxBytes / PAGES);
      const bytes = free < maxBytes / 8 ? LARGE_ANSWER_BYTES : whole;
      held.reserve(response, bytes);
      return bytes;
    },
  };
}

function cut(response: ServerResponse): void {
  if (!response.closed) {
    response.req.socket.destroy();
  }
}

function createHeldAnswers(maxBytes: number) {
  // in the order in which they last made progress
  const answers = new Map<ServerResponse, Held>();
  let bytes = 0;
  const release = (response: ServerResponse): void => {
    bytes -= answers.get(response)?.bytes ?? 0;
    answers.delete(response);
  };
  const reserve = (response: ServerResponse, amount: number): void => {
    release(response);
    if (response.closed) {
      return;
    }
    const now = performance.now();
    answers.set(response, { bytes: amount, begun: now, progressed: now, taken: 0 });
    bytes += amount;
  };
  const cutSlow = (amount: number): void => {
    const now = performance.now();
    for (const [response, { begun, progressed, taken }] of answers) {
      if (bytes + amount <= maxBytes) {
        return;
      }
      const age = now - begun;
      const isSlow = age >= SLOW_MS && taken < age * SLOW_BYTES_PER_MS;
      if (response.headersSent && (isSlow || now - progressed >= SLOW_MS)) {
        release(response);
        cut(response);
      }
    }
  };
  return {
    get bytes() {
      return bytes;
    },
    reserve,
    release,
    /** False if the budget has no place for so many bytes, although answers that are hardly read were cut. */
    add: (response: ServerResponse, amount: number): boolean => {
      release(response);
      cutSlow(amount);
      const fits = answers.size === 0 || bytes + amount <= maxBytes;
      if (fits) {
        reserve(response, amount);
      }
      return fits;
    },
    take: (response: ServerResponse, amount: number): void => {
      const answer = answers.get(response);
      if (answer !== undefined) {
        answer.taken += amount;
        answer.progressed = performance.now();
        answers.delete(response);
        answers.set(response, answer);
      }
    },
  };
}

function tooBusy(): RepriseError {
  return new RepriseError(
    "answers_unread",
    "Too many clients do not read their answers, so there is no memory for this one. Try again in a few seconds, or ask for less with `limit`.",
  );
}
