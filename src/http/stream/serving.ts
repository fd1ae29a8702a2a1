import { type InTurn, type Portion, readAfter, type Source } from "../../exchange/live/source.ts";
import type { Observe } from "../observation.ts";
import type { StreamPagesInTurn } from "../unsent/pages-in-turn.ts";
import type { OpenAnswers, StreamAnswer, StreamEnd } from "./open-answers.ts";
import type { StreamOutput } from "./stream-output.ts";

/** Portion of a stream, as it is sent. */
export interface SentPortion<Cursor> extends Portion<Cursor> {
  /** Null if there is nothing. */
  readonly bytes: Buffer | null;
  /** When each of its messages was stored, in milliseconds since 1970. */
  readonly storedMs: readonly number[];
}

/** Reader of one stream, from its beginning. It must be closed. */
export interface Reader<Cursor, Part extends SentPortion<Cursor>> {
  readonly source: Source<Cursor, Part>;
  readonly start: Cursor;
  /** True if the first portion says that the stream would send nothing. */
  readonly isOver: (first: Part) => boolean;
  /** True if the first portion is small, so that it is read at once. */
  readonly startsSmall: boolean;
  readonly close: () => void;
}

/** The two ways in which a request for a stream is answered. */
export interface Serving<Position> {
  /**
   * Answers with a stream from the position on, or with `nothing left` and no response if nothing ever follows. While
   * the database is away the stream stays open: a client that was cut would meet a 503, after which an EventSource
   * never asks again. Another failure after the answer began cuts the connection: the client resumes by its last id.
   *
   * Error codes: `session_not_found`, `database_*`, before anything is answered.
   */
  serve(request: Position & StreamAnswer): Promise<"nothing left" | "served">;
  /** False if `serve` would send nothing. Error codes: `session_not_found`, `database_*`. */
  hasMore(position: Position): Promise<boolean>;
}

export function createServing<Position, Cursor, Part extends SentPortion<Cursor>>(
  { run }: Pick<OpenAnswers, "run">,
  observe: Observe,
  open: (position: Position) => Reader<Cursor, Part>,
): Serving<Position> {
  return {
    serve: async (request) => {
      const reader = open(request);
      try {
        const stream = new ServedStream(reader, request.pages, observe);
        if (!(await stream.begin())) {
          return "nothing left";
        }
        await run(request, (output) => stream.send(output));
        return "served";
      } finally {
        reader.close();
      }
    },
    hasMore: async (position) => {
      const reader = open(position);
      try {
        return !reader.isOver(await reader.source.read(reader.start));
      } finally {
        reader.close();
      }
    },
  };
}

/**
 * One stream, which sends until nothing will ever follow, the session is deleted, or the signal is aborted. One loop
 * serves old and new alike:
 *
 *     read ──> write, until the client has taken it ──────────────┐
 *      ^                                                          │
 *      └── more to read: in its turn among all that catch up ─────┤
 *      └── last portion: complete; else once there is something ──┘
 *
 * Nothing is read before the client has taken what was sent before. While the stream waits, it holds no portion.
 */
class ServedStream<Cursor, Part extends SentPortion<Cursor>> {
  readonly #reader: Reader<Cursor, Part>;
  readonly #pages: StreamPagesInTurn;
  readonly #observe: Observe;
  /** Until it is sent: a reference that is kept would hold its memory for the life of the stream. */
  #first: Part | null = null;

  constructor(reader: Reader<Cursor, Part>, pages: StreamPagesInTurn, observe: Observe) {
    this.#reader = reader;
    this.#pages = pages;
    this.#observe = observe;
  }

  /** Reads the first portion. False if the stream would send nothing. */
  async begin(): Promise<boolean> {
    const { source, start, startsSmall, isOver } = this.#reader;
    const read = (): Promise<Part> => source.read(start);
    const first = await (startsSmall ? read() : this.#pages.read(read));
    this.#first = first;
    return !isOver(first);
  }

  async send(output: StreamOutput): Promise<StreamEnd> {
    const { source } = this.#reader;
    const { signal } = output;
    let sent = await this.#sendFirst(output);
    while (sent !== null && !sent.isLast && !signal.aborted) {
      if (!sent.more) {
        await source.changed(sent.cursor, signal);
      }
      sent = await this.#sendNext(sent, output);
    }
    return signal.aborted ? "aborted" : "complete";
  }

  #sendFirst(output: StreamOutput): Promise<Portion<Cursor> | null> {
    const first = this.#first;
    this.#first = null;
    return this.#sendPortion(first, output, false);
  }

  async #sendNext(sent: Portion<Cursor>, output: StreamOutput): Promise<Portion<Cursor> | null> {
    const inTurn: InTurn<Part> = (read) => this.#pages.read(read);
    const portion = await readAfter(this.#reader.source, sent, { signal: output.signal, inTurn });
    return this.#sendPortion(portion, output, !sent.more);
  }

  /**
   * Returns what the loop keeps while it waits: the bytes are released. Messages from before the client asked are old:
   * only those of a stream that `isUpToDate` show how long one takes.
   */
  async #sendPortion(
    portion: Part | null,
    output: StreamOutput,
    isUpToDate: boolean,
  ): Promise<Portion<Cursor> | null> {
    if (portion === null) {
      return null;
    }
    const { bytes, storedMs, cursor, more, isLast } = portion;
    if (bytes !== null) {
      const written = output.write(bytes);
      if (storedMs.length > 0) {
        const now = Date.now();
        const lagsMs = isUpToDate ? storedMs.map((stored) => now - stored) : [];
        this.#observe({ kind: "delivery", messages: storedMs.length, lagsMs });
      }
      await written;
    }
    this.#pages.taken();
    return { cursor, more, isLast };
  }
}
