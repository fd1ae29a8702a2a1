import type { Observe } from "../metrics/observation.ts";
import type { PagesInTurn } from "../unsent/pages-in-turn.ts";
import type { StreamEnd, StreamOutput } from "./open-answers.ts";
import { readWhenThere } from "../../exchange/live/read-when-there.ts";
import type { ReadPage, EventPage, StreamPosition } from "./stream-pages.ts";
import type { Subscription } from "../../exchange/live/session-watcher.ts";

export interface MessageStream extends StreamOutput {
  readonly readPage: ReadPage;
  readonly observe: Observe;
  readonly subscription: Subscription;
  readonly position: StreamPosition;
  /**
   * Returns the page that was read before the answer was begun, once: a reference that is kept
   * would hold its memory for the life of the stream.
   */
  readonly takeFirst: () => EventPage | null;
  readonly pages: PagesInTurn;
}

/**
 * Sends a session's messages, in order of `seq`, until the session has ended and all is sent, or
 * was deleted, or the signal is aborted. While the database is away the stream stays open: a
 * client that was cut would meet a 503, after which an EventSource never asks again. One loop serves
 * replay and live alike:
 *
 *     read page ─> write, until the client has taken it ─────────────┐
 *        ^                                                           │
 *        └── more to read: in its turn among all that read much ─────┤
 *        └── session ended: complete; else wait for a hint ──────────┘
 *
 * No page is read before the client has taken the one before it.
 */
export async function sendMessages(stream: MessageStream): Promise<StreamEnd> {
  const { subscription, signal } = stream;
  let sent = await sendPage(stream, stream.takeFirst(), false);
  let { position } = stream;
  let isUpToDate = false;
  while (!signal.aborted && sent !== null) {
    position = { ...position, after_seq: sent.lastSeq ?? position.after_seq };
    const { more } = sent;
    if (!more) {
      if (sent.state === "ended") {
        return "complete";
      }
      isUpToDate = true;
      // hints come with commits, which leave a turn to others themselves
      await subscription.changed(signal);
    }
    subscription.clear();
    sent = await sendNext(stream, position, { isUpToDate, inTurn: more });
  }
  return signal.aborted ? "aborted" : "complete";
}

/** What the loop keeps of a page while it waits: the messages themselves are released. */
type SentPage = Pick<EventPage, "lastSeq" | "more" | "state">;

/** Null once the session was deleted: the stream ends, and a client that asks again gets 404. */
async function sendNext(
  stream: MessageStream,
  position: StreamPosition,
  { isUpToDate, inTurn }: { readonly isUpToDate: boolean; readonly inTurn: boolean },
): Promise<SentPage | null> {
  const { readPage, signal, pages } = stream;
  const read = (): Promise<EventPage> => readPage(position);
  const page = await readWhenThere(inTurn ? () => pages.read(read) : read, signal);
  const sent = await sendPage(stream, page, isUpToDate);
  pages.taken();
  return sent;
}

/** Messages from before the client asked are old: only later ones show how long one takes. */
async function sendPage(
  { write, observe, subscription }: MessageStream,
  page: EventPage | null,
  isUpToDate: boolean,
): Promise<SentPage | null> {
  if (page === null) {
    return null;
  }
  const { bytes, lastSeq, storedMs, more, state } = page;
  if (!more) {
    subscription.hasRead(page.mark);
  }
  if (bytes !== null) {
    const written = write(bytes);
    const now = Date.now();
    const lagsMs = isUpToDate ? storedMs.map((stored) => now - stored) : [];
    observe({ kind: "delivery", messages: storedMs.length, lagsMs });
    await written;
  }
  return { lastSeq, more, state };
}
