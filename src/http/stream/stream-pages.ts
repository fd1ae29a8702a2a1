import { LARGE_ANSWER_BYTES, STREAM_PAGE_BYTES, STREAM_PAGE_ROWS } from "../../core/limits.ts";
import type { Message, SessionState } from "../../core/sessions.ts";
import { messageMark } from "../../exchange/live/session-watcher.ts";
import { readStreamPage } from "../../store/messages/stream-page.ts";
import type { Store } from "../../store/store.ts";

export interface StreamPosition {
  readonly session_id: string;
  readonly after_seq: number;
  readonly all: boolean;
}

/** Messages of a stream as they go to its client. */
export interface EventPage {
  /** Null if there is no message. */
  readonly bytes: Buffer | null;
  readonly lastSeq: number | undefined;
  /** When each of the messages was stored, in milliseconds since 1970. */
  readonly storedMs: readonly number[];
  /** True if more messages follow. */
  readonly more: boolean;
  /** Read together with the messages: an ended session without `more` gets nothing after this page. */
  readonly state: SessionState;
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
  const notBegun = new Map<string, Promise<EventPage>>();
  return (position) => {
    const { small, ...place } = position;
    const key = `${place.session_id} ${place.after_seq} ${place.all} ${small}`;
    const shared = notBegun.get(key);
    if (shared !== undefined) {
      return shared;
    }
    const over = (): void => {
      if (notBegun.get(key) === page) {
        notBegun.delete(key);
      }
    };
    const read: typeof readStreamPage = (tx, input) => {
      // from here on the read sees one moment: who asks later may have heard of a later one
      over();
      return readStreamPage(tx, input);
    };
    const page = store
      .read(read, {
        ...place,
        max_rows: STREAM_PAGE_ROWS,
        max_bytes: Math.min(small ? LARGE_ANSWER_BYTES : STREAM_PAGE_BYTES, unsentBytes),
        or_nothing: small === true,
      })
      .then(({ messages, more, state, last_seq }) => ({
        // bytes: of a string, the socket would keep a copy of three times its length
        bytes: messages.length === 0 ? null : Buffer.from(messages.map(eventOf).join("")),
        lastSeq: messages.at(-1)?.seq,
        storedMs: messages.map(({ ts }) => Date.parse(ts)),
        more,
        state,
        mark: messageMark({ last_seq, state }),
      }))
      .finally(over);
    notBegun.set(key, page);
    return page;
  };
}

/** This JSON has no line breaks, so one `data` line holds the whole message. */
function eventOf(message: Message): string {
  return `id: ${message.seq}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
}
