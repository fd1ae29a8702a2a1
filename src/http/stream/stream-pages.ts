import { LARGE_ANSWER_BYTES, STREAM_PAGE_BYTES, STREAM_PAGE_ROWS } from "../../core/limits.ts";
import type { Message } from "../../core/sessions.ts";
import { messageMark } from "../../exchange/live/session-watcher.ts";
import { SharedReads } from "../../exchange/live/shared-reads.ts";
import { readStreamPage } from "../../store/records/messages/stream-page.ts";
import type { Store } from "../../store/store.ts";
import type { SentPortion } from "./serving.ts";

export interface StreamPosition {
  readonly session_id: string;
  readonly after_seq: number;
  readonly all: boolean;
}

/** Messages of a stream as they go to its client; its cursor is the `seq` of the last one. */
export interface EventPage extends SentPortion<number> {
  /** See `Subscription.hasRead`. */
  readonly mark: string;
}

/**
 * Reads what follows a position, as much as a stream sends at once. Error codes:
 * `session_not_found`, `database_*`.
 */
export type ReadPage = (position: ReadPosition) => Promise<EventPage>;

export interface ReadPosition extends StreamPosition {
  /** True for nothing rather than a message that alone is large: `more` is true then. */
  readonly small?: true;
}

/**
 * Makes the reader of all streams. Those that wait at the same position and ask before the read
 * has begun share it: a message that ten streams wait for is read and written as JSON once.
 */
export function createPageReader(store: Store, unsentBytes: number): ReadPage {
  const reads = new SharedReads<EventPage>();
  return ({ small, ...place }) =>
    reads.read(`${place.session_id} ${place.after_seq} ${place.all} ${small}`, async (begun) => {
      const operation: typeof readStreamPage = (tx, input) => {
        begun();
        return readStreamPage(tx, input);
      };
      const { messages, more, state, last_seq } = await store.read(operation, {
        ...place,
        max_rows: STREAM_PAGE_ROWS,
        max_bytes: Math.min(small ? LARGE_ANSWER_BYTES : STREAM_PAGE_BYTES, unsentBytes),
        or_nothing: small === true,
      });
      return {
        // bytes: of a string, the socket would keep a copy of three times its length
        bytes: messages.length === 0 ? null : Buffer.from(messages.map(eventOf).join("")),
        storedMs: messages.map(({ ts }) => Date.parse(ts)),
        cursor: messages.at(-1)?.seq ?? place.after_seq,
        more,
        // read together with the messages: nothing follows this page
        isLast: state === "ended" && !more,
        mark: messageMark({ last_seq, state }),
      };
    });
}

/** This JSON has no line breaks, so one `data` line holds the whole message. */
function eventOf(message: Message): string {
  return `id: ${message.seq}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
}
