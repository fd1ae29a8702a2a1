import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

import { isRepriseError } from "../core/errors.ts";
import { STREAM_PAGE_BYTES } from "../core/limits.ts";
import type { Heartbeat } from "./heartbeats.ts";
import type { Observe } from "./observation.ts";
import type { ReadPage, StreamPage, StreamPosition } from "./stream-pages.ts";
import type { Subscription } from "./watch.ts";

export interface StreamLimits {
  readonly unsentBytes: number;
  readonly stallMs: number;
}

export interface MessageStream {
  readonly readPage: ReadPage;
  readonly observe: Observe;
  readonly response: ServerResponse;
  readonly subscription: Subscription;
  readonly limits: StreamLimits;
  /** Begun with the answer; stopped when nothing more is sent. */
  readonly heartbeat: Heartbeat;
  readonly position: StreamPosition;
  /**
   * Gives the page that was read at the position before the answer was begun, once: whoever kept
   * it would keep it as long as the stream lives.
   */
  readonly takeFirst: () => StreamPage | null;
  /** Aborted when the client is gone or the service shuts down. */
  readonly signal: AbortSignal;
}

/** A stream that could not read asks again after this long, and up to half as long again. */
const RETRY_MS = 500;

/**
 * Sends a session's messages, in order of `seq`, until the session has ended and all is sent, or
 * was deleted, or the signal is aborted. While the database is away the stream stays open: a
 * client that was cut would meet a 503, after which an EventSource never asks again. One loop serves replay and live alike:
 *
 *     read page ─> send ─> next turn of the event loop ─> room? ─┐
 *        ^                                                      │
 *        └── more there ────────────────────────────────────────┤
 *        └── ended: done; else wait for a hint ─────────────────┘
 *
 * No more is read than the client takes: beyond `unsentBytes` the loop waits until the socket has
 * sent everything. A client that takes nothing for `stallMs` is cut and resumes by its last id.
 */
export async function sendMessages(stream: MessageStream): Promise<void> {
  const { response, subscription, limits, heartbeat, signal } = stream;
  response.setTimeout(limits.stallMs, () => cutIfStalled(stream));
  try {
    let sent = sendPage(stream, stream.takeFirst(), false);
    let { position } = stream;
    let isUpToDate = false;
    while (!signal.aborted && sent !== null) {
      position = { ...position, after_seq: sent.lastSeq ?? position.after_seq };
      if (!sent.more) {
        if (sent.state === "ended") {
          return;
        }
        isUpToDate = true;
        // hints come with commits, which leave a turn to others themselves
        await subscription.changed(signal);
      } else {
        await nextTurn();
      }
      await roomToSend(response, limits.unsentBytes, signal);
      subscription.clear();
      sent = await sendNext(stream, position, isUpToDate);
    }
  } finally {
    heartbeat.stop();
  }
}

/** What the loop keeps of a page while it waits: the messages themselves are let go. */
type SentPage = Pick<StreamPage, "lastSeq" | "more" | "state">;

/** Null once the session was deleted: the stream ends, and a client that asks again is told so. */
async function sendNext(
  stream: MessageStream,
  position: StreamPosition,
  isUpToDate: boolean,
): Promise<SentPage | null> {
  const { readPage, signal } = stream;
  while (!signal.aborted) {
    try {
      return sendPage(stream, await readPage(position), isUpToDate);
    } catch (error) {
      if (isRepriseError(error, "session_not_found")) {
        return null;
      }
      if (!isRepriseError(error, "database_unavailable", "database_locked")) {
        throw error;
      }
    }
    // all streams of a node begin again together, so they spread
    const wait = RETRY_MS * (1 + Math.random() / 2);
    await sleep(wait, null, { signal }).catch(() => undefined);
  }
  return null;
}

/** What a client asks for that was away is old: only messages after that tell how long one takes. */
function sendPage(
  { response, heartbeat, observe }: MessageStream,
  page: StreamPage | null,
  isUpToDate: boolean,
): SentPage | null {
  if (page === null) {
    return null;
  }
  const { bytes, lastSeq, storedMs, more, state } = page;
  if (bytes !== null) {
    response.write(bytes);
    heartbeat.wrote();
    const now = Date.now();
    const lagsMs = isUpToDate ? storedMs.map((stored) => now - stored) : [];
    observe({ kind: "delivery", messages: storedMs.length, lagsMs });
  }
  return { lastSeq, more, state };
}

function pageBytes(unsentBytes: number): number {
  return Math.min(STREAM_PAGE_BYTES, unsentBytes);
}

async function roomToSend(
  response: ServerResponse,
  unsentBytes: number,
  signal: AbortSignal,
): Promise<void> {
  const full = response.writableLength + pageBytes(unsentBytes) > unsentBytes;
  if (full && response.writableNeedDrain && !signal.aborted) {
    await once(response, "drain", { signal }).catch(() => undefined);
  }
}

/** The socket's timer counts bytes that were taken, even within one large write. */
function cutIfStalled({ response, observe }: MessageStream): void {
  if (response.writableLength > 0) {
    observe({ kind: "stalled" });
    response.destroy();
  }
}
