import type { ServerResponse } from "node:http";

import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preHandlerAsyncHookHandler,
} from "fastify";

import {
  ANSWER_STALL_MS,
  LARGE_ANSWER_BYTES,
  MAX_CONTENT_BYTES,
  MAX_DETAIL_BYTES,
  MAX_UNSENT_BYTES,
  SCARCE_PAGE_BYTES,
  VISITOR_PAGE_BYTES,
} from "../../core/limits.ts";
import { answerInTurn } from "./answer-in-turn.ts";
import { createOneByOne } from "./one-by-one.ts";
import { createDeadlines } from "./deadlines.ts";
import { whoSends } from "./fair-line.ts";
import { cut, HeldBytes, tooBusy } from "./held-bytes.ts";
import { sliceAnswers } from "./slice-answers.ts";
import { createStreamPages, type StreamPages } from "./pages-in-turn.ts";
import { createTurns } from "./turns.ts";

export interface UnsentSettings {
  /** Bytes of large answers that clients have not taken, at most. */
  readonly maxBytes: number;
  /** A client that takes nothing for so many milliseconds is cut. */
  readonly stallMs: number;
}

export interface AnsweredRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** How much an answer may hold. */
export interface AnswerLimit {
  /** Bytes of content. */
  readonly max_bytes: number;
  /** True if it must be null rather than a part of what was asked for. */
  readonly or_nothing: boolean;
}

/** How the answers of a service are made while some clients read nothing. */
export interface UnsentAnswers {
  /** Bytes that are held now. */
  readonly bytes: number;
  /** Requests and streams that wait for their turn. */
  readonly waiting: number;
  /**
   * Reads a page: a small one at once, a large one in its turn, with the fewer bytes the more of the budget is
   * taken. So clients that do not read make pages smaller, and nobody waits for them.
   *
   * Error codes: `answers_unread`; those of `read`.
   */
  read<Output>(
    answer: AnsweredRequest,
    read: (limit: AnswerLimit) => Promise<Output | null>,
  ): Promise<Output>;
  /** Waits for the turn of an answer of about so many bytes, which has no pages. Error codes: `answers_unread`. */
  enter(answer: AnsweredRequest, bytes: number): Promise<void>;
  /** Does so before the handler of a call whose answer may be large, or takes long to make. */
  readonly inTurn: preHandlerAsyncHookHandler;
  /** Lets others have their turn, in the middle of one. */
  pause(answer: AnsweredRequest): Promise<void>;
  /** Waits until so many bytes fit, for an answer that is made while it is sent; its route reports the progress. */
  reserve(answer: AnsweredRequest, bytes: number): Promise<void>;
  progress(reply: FastifyReply, bytes: number): void;
  readonly streams: StreamPages;
}

/** Parts of the budget that one page may take at most. */
const PAGES = 4;
/** The part of the budget from which on clients count as not reading. */
const PRESSED = 4;
/** An answer's time in ticks of the timer that all share. */
const STALL_TICKS = 10;

/**
 * Bounds what waits for clients that do not read: a large answer is made in its turn once its bytes have a place, is
 * handed over in slices and counts until it was taken, and a connection that takes nothing of an answer, also of a
 * small one, is closed. Must be called before every hook that refuses a request, and before the routes are added.
 */
export function limitUnsent(
  app: FastifyInstance,
  { maxBytes = MAX_UNSENT_BYTES, stallMs = ANSWER_STALL_MS }: Partial<UnsentSettings> = {},
): UnsentAnswers {
  const held = new HeldBytes(maxBytes, cut);
  const turns = createTurns({ isPressed: () => held.idleBytes > maxBytes / PRESSED });
  answerInTurn(app, turns);
  const ends = new WeakMap<ServerResponse, () => void>();
  const endTurn = (response: ServerResponse): void => ends.get(response)?.();
  const progress = followAnswers(app, { held, stallMs, endTurn });
  sliceAnswers(app, { held, isMade: endTurn, progress });

  /** Reserves the first of these amounts that has a place once it is the answer's turn, and returns it. */
  const enter = async (
    { request, reply: { raw: response } }: AnsweredRequest,
    amounts: () => readonly number[],
  ): Promise<number> => {
    const end = await turns.take(whoSends(request));
    if (isGone(response)) {
      end();
      // the client is gone: there is no answer
      return new Promise(() => undefined);
    }
    ends.set(response, end);
    const bytes = amounts().find((each) => held.ensureFits(response, each));
    if (bytes === undefined) {
      throw tooBusy();
    }
    held.reserve(response, bytes);
    return bytes;
  };
  const pageSizes = ({ principal }: FastifyRequest): readonly number[] => {
    const most = principal.role === "visitor" ? VISITOR_PAGE_BYTES : MAX_DETAIL_BYTES;
    const isScarce = turns.waiting > 0 || held.bytes > maxBytes / 2;
    return [Math.min(isScarce ? SCARCE_PAGE_BYTES : most, maxBytes / PAGES), LARGE_ANSWER_BYTES];
  };

  return {
    get bytes() {
      return held.bytes;
    },
    get waiting() {
      return turns.waiting;
    },
    read: async (answer, read) => {
      const small = await read({ max_bytes: LARGE_ANSWER_BYTES, or_nothing: true });
      if (small !== null) {
        return small;
      }
      const max_bytes = await enter(answer, () => pageSizes(answer.request));
      const large = await read({ max_bytes, or_nothing: false });
      if (large === null) {
        throw new TypeError("an answer of any size was asked for");
      }
      return large;
    },
    enter: async (answer, bytes) => {
      await enter(answer, () => [bytes]);
    },
    inTurn: async (request, reply) => {
      await enter({ request, reply }, () => [MAX_CONTENT_BYTES]);
    },
    pause: async ({ request, reply: { raw: response } }) => {
      endTurn(response);
      ends.set(response, await turns.take(whoSends(request)));
    },
    reserve: ({ request, reply: { raw: response } }, bytes) => {
      const amount = Math.min(bytes, maxBytes / 2);
      return held.reserveWhenFree(response, { who: whoSends(request), amount });
    },
    progress: ({ raw: response }, bytes) => progress(response, bytes),
    streams: createStreamPages(held, turns),
  };
}

/** Cuts answers of which nothing is taken, and ends what those hold that are over. Returns how progress is reported. */
function followAnswers(
  app: FastifyInstance,
  {
    held,
    stallMs,
    endTurn,
  }: {
    readonly held: HeldBytes;
    readonly stallMs: number;
    readonly endTurn: (response: ServerResponse) => void;
  },
): (response: ServerResponse, bytes: number) => void {
  const oneByOne = createOneByOne();
  const stalls = createDeadlines<ServerResponse>(
    { tickMs: stallMs / STALL_TICKS, ticks: STALL_TICKS + 1 },
    // cuts each in a separate turn: when many began together, none delays what others wait for
    (response) => void oneByOne(() => cut(response)),
  );
  app.addHook("onRequest", (_request, { raw: response }, done) => {
    response.once("close", () => {
      stalls.end(response);
      held.release(response);
      endTurn(response);
    });
    done();
  });
  app.addHook("onSend", (_request, { raw: response }, payload, done) => {
    stalls.begin(response);
    done(null, payload);
  });
  return (response, bytes) => {
    stalls.begin(response);
    held.progress(response, bytes);
  };
}

function isGone(response: ServerResponse): boolean {
  return response.closed || response.req.socket.destroyed;
}
