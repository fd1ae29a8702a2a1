import { createDeadlines, type Deadlines } from "../unsent/deadlines.ts";

/** The answer that a stream's comments are written to; its headers are sent. */
export interface HeartbeatTarget {
  readonly writableLength: number;
  readonly chunkedEncoding: boolean;
  readonly socket: { write(bytes: Buffer): unknown } | null;
  write(bytes: Buffer): unknown;
}

/** Parts of the longest silence: so many times in it the timer serves the streams that are due. */
const PARTS = 60;
/** A timer that fires more often would do nothing but that. */
const MIN_TICK_MS = 5;

/**
 * Sends each stream a comment before it was silent for `silenceMs`, unless bytes wait that its
 * client has not taken. `begin` restarts its silence; `end` must be called.
 */
export function createHeartbeats(silenceMs: number): Deadlines<HeartbeatTarget> {
  const tickMs = Math.max(MIN_TICK_MS, silenceMs / PARTS);
  // minus 1, because a tick comes late rather than early
  const ticks = Math.max(1, Math.floor(silenceMs / tickMs) - 1);
  const deadlines = createDeadlines<HeartbeatTarget>({ tickMs, ticks }, (target) => {
    deadlines.begin(target);
    if (target.writableLength === 0) {
      send(target);
    }
  });
  return deadlines;
}

const COMMENT = Buffer.from(":\n\n");
const CHUNK = Buffer.from("3\r\n:\n\n\r\n");

/**
 * An answer makes 2 KB of garbage of each `write`, its socket a quarter: with 10,000 streams the
 * difference is a full collection every half minute. So the comment goes to the socket as the chunk
 * that the answer would make of it. Nothing can come between, because an answer hands over whole
 * chunks. One to HTTP/1.0 has none.
 */
function send(target: HeartbeatTarget): void {
  if (target.chunkedEncoding && target.socket !== null) {
    target.socket.write(CHUNK);
  } else {
    target.write(COMMENT);
  }
}
