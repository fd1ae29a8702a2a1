/** The answer that a stream's comments are written to; its headers are sent. */
export interface HeartbeatTarget {
  readonly writableLength: number;
  readonly chunkedEncoding: boolean;
  readonly socket: { write(bytes: Buffer): unknown } | null;
  write(bytes: Buffer): unknown;
}

export interface Heartbeat {
  /** The stream has written something itself: its silence begins anew. */
  wrote(): void;
  stop(): void;
}

export interface Heartbeats {
  /** Begins to send comments. `stop` ends it and must be called. */
  begin(target: HeartbeatTarget): Heartbeat;
}

/** Parts of the longest silence: so many times in it the timer serves the streams that are due. */
const PARTS = 60;
/** A timer that fires more often would do nothing but that. */
const SHORTEST_TICK_MS = 5;

/**
 * Sends each stream a comment before it was silent for `silenceMs`, unless bytes wait that its
 * client has not taken. ONE timer serves them all, and runs only while there is a stream: it goes
 * round a wheel of slots, and a stream is in the slot at which the timer was when it last wrote.
 * So the streams of a slot have been silent for a round when the timer is back there.
 */
export function createHeartbeats(silenceMs: number): Heartbeats {
  const send = createSender();
  const tickMs = Math.max(SHORTEST_TICK_MS, silenceMs / PARTS);
  // one less, because a tick comes late rather than early
  const count = Math.max(1, Math.floor(silenceMs / tickMs) - 1);
  const wheel = Array.from({ length: count }, () => new Set<HeartbeatTarget>());
  let [current = new Set<HeartbeatTarget>()] = wheel;
  let turn = 0;
  let beating = 0;
  let timer: NodeJS.Timeout | undefined;

  const tick = (): void => {
    turn = (turn + 1) % count;
    current = wheel[turn] ?? current;
    for (const target of current) {
      if (target.writableLength === 0) {
        send(target);
      }
    }
  };

  return {
    begin: (target) => {
      if (beating === 0) {
        timer = setInterval(tick, tickMs);
      }
      beating += 1;
      let slot = current.add(target);
      return {
        wrote: () => {
          // one that was stopped is in no slot any more
          if (slot !== current && slot.delete(target)) {
            slot = current.add(target);
          }
        },
        stop: () => {
          if (slot.delete(target)) {
            beating -= 1;
          }
          if (beating === 0) {
            clearInterval(timer);
          }
        },
      };
    },
  };
}

/**
 * An answer makes 2 KB of garbage of each `write`, its socket a quarter: with 10,000 streams the
 * difference is a full collection every half minute. So the comment goes to the socket as the chunk
 * that the answer would make of it. Nothing can come between, because an answer hands over whole
 * chunks. One to HTTP/1.0 has none.
 */
function createSender(): (target: HeartbeatTarget) => void {
  const comment = Buffer.from(":\n\n");
  const chunk = Buffer.from("3\r\n:\n\n\r\n");
  return (target) => {
    if (target.chunkedEncoding && target.socket !== null) {
      target.socket.write(chunk);
    } else {
      target.write(comment);
    }
  };
}
