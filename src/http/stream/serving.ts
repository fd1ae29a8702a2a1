import { nextPortion, type InTurn, type Portion, type Source } from "../../exchange/live/source.ts";
import type { Observe } from "../observation.ts";
import type { PagesInTurn } from "../unsent/pages-in-turn.ts";
import type { OpenAnswers, StreamAnswer, StreamEnd, StreamOutput } from "./open-answers.ts";

/** Portion of a stream, as it is sent. */
export interface SentPortion<Cursor> extends Portion<Cursor> {
  /** Null if there is nothing. */
  readonly bytes: Buffer | null;
  /** When each of its messages was stored, in milliseconds since 1970. */
  readonly storedMs: readonly number[];
}

/** Source of one stream, from its beginning. */
export interface Reader<Cursor, Part extends SentPortion<Cursor>> extends Source<Cursor, Part> {
  readonly start: Cursor;
  /** True if the first portion says that the stream would send nothing. */
  isOver(first: Part): boolean;
  /** True if the first portion is small, so that it is read at once. */
  readonly startsSmall: boolean;
}

/** Gives a stream its reader, until it is done. */
export type Opening<Position, Cursor, Part extends SentPortion<Cursor>> = <Output>(
  position: Position,
  use: (reader: Reader<Cursor, Part>) => Promise<Output>,
) => Promise<Output>;

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
  open: Opening<Position, Cursor, Part>,
): Serving<Position> {
  // the first read never waits
  const { signal } = new AbortController();
  const readFirst = (reader: Reader<Cursor, Part>, inTurn: InTurn<Part>): Promise<Part | null> => {
    const read = (): Promise<Part | null> => reader.next(reader.start, signal);
    return reader.startsSmall ? read() : inTurn(read);
  };
  return {
    serve: (request) =>
      open(request, async (reader) => {
        const { pages } = request;
        let first = await readFirst(reader, pages.read);
        if (first === null || reader.isOver(first)) {
          return "nothing left";
        }
        const takeFirst = (): Part | null => {
          const portion = first;
          first = null;
          return portion;
        };
        await run(request, (output) => send({ ...output, reader, pages, observe, takeFirst }));
        return "served";
      }),
    hasMore: (position) =>
      open(position, async (reader) => {
        const first = await readFirst(reader, (read) => read());
        return first !== null && !reader.isOver(first);
      }),
  };
}

interface Stream<Cursor, Part extends SentPortion<Cursor>> extends StreamOutput {
  readonly reader: Reader<Cursor, Part>;
  readonly pages: PagesInTurn;
  readonly observe: Observe;
  /** Returns the first portion, once: a reference that is kept would hold its memory for the life of the stream. */
  readonly takeFirst: () => Part | null;
}

/**
 * Sends until nothing will ever follow, the session is deleted, or the signal is aborted. One loop serves old and new
 * alike:
 *
 *     read ──> write, until the client has taken it ──────────────┐
 *      ^                                                          │
 *      └── more to read: in its turn among all that catch up ─────┤
 *      └── last portion: complete; else once there is something ──┘
 *
 * Nothing is read before the client has taken what was sent before.
 */
async function send<Cursor, Part extends SentPortion<Cursor>>(
  stream: Stream<Cursor, Part>,
): Promise<StreamEnd> {
  let sent = await sendPortion(stream, stream.takeFirst(), false);
  while (sent !== null && !sent.isLast && !stream.signal.aborted) {
    sent = await sendNext(stream, sent);
  }
  return stream.signal.aborted ? "aborted" : "complete";
}

async function sendNext<Cursor, Part extends SentPortion<Cursor>>(
  stream: Stream<Cursor, Part>,
  sent: Portion<Cursor>,
): Promise<Portion<Cursor> | null> {
  const { reader, signal, pages } = stream;
  const portion = await nextPortion(reader, sent, { signal, inTurn: pages.read });
  return sendPortion(stream, portion, !sent.more);
}

/**
 * Returns what the loop keeps while it waits: the bytes are released. Messages from before the client asked are old:
 * only those of a stream that `isUpToDate` show how long one takes.
 */
async function sendPortion<Cursor, Part extends SentPortion<Cursor>>(
  { write, pages, observe }: Stream<Cursor, Part>,
  portion: Part | null,
  isUpToDate: boolean,
): Promise<Portion<Cursor> | null> {
  if (portion === null) {
    return null;
  }
  const { bytes, storedMs, cursor, more, isLast } = portion;
  if (bytes !== null) {
    const written = write(bytes);
    if (storedMs.length > 0) {
      const now = Date.now();
      const lagsMs = isUpToDate ? storedMs.map((stored) => now - stored) : [];
      observe({ kind: "delivery", messages: storedMs.length, lagsMs });
    }
    await written;
  }
  pages.taken();
  return { cursor, more, isLast };
}
