import type { LiveEvent, TextPiece } from "../../core/schemas/live.ts";
import { codePoints, endOf } from "../../core/text/code-points.ts";
import {
  addToChecksum,
  EMPTY_CHECKSUM,
  type LivePosition,
  positionAfter,
  writePosition,
} from "../../core/live/live-position.ts";
import type { Message } from "../../core/sessions.ts";
import type { LiveView } from "./live-view.ts";
import {
  exchangeNews,
  type LiveNews,
  phaseNews,
  reasoningNews,
  type ShownStates,
  shownOf,
  stateNews,
} from "./state-events.ts";

/** Position of a reader: what it has been sent. */
export interface LiveCursor {
  readonly position: LivePosition;
  /** Where the position's text ends, in UTF-16 units; null until it was compared with the text. */
  readonly at: number | null;
  /** Null before the snapshot. */
  readonly shown: ShownStates | null;
}

/** Events that are sent next, and the cursor after them. */
export interface LiveStep {
  readonly events: readonly LiveEvent[];
  readonly cursor: LiveCursor;
}

/** The cursor of a reader that has just connected. */
export function cursorAt(position: LivePosition): LiveCursor {
  return { position, at: position.message_id === null ? 0 : null, shown: null };
}

/**
 * Returns what brings a reader from its cursor to the view. The texts of a message, joined, are the content of the
 * stored message, or `reset` declares them void. The text of a view may be shorter than what the reader has: another
 * node knows only what is stored.
 */
export function eventsBetween(cursor: LiveCursor, view: LiveView): LiveStep {
  const writer = createWriter(cursor, view);
  const shown = cursor.shown ?? writer.snapshot();
  const begun = writer.sendNews(isAtWork(view) ? exchangeNews(shown, view) : []);
  for (const message of view.messages) {
    writer.sendMessage(message);
  }
  if (view.more) {
    return writer.step(begun ? { ...shown, exchange: view.exchange } : shown);
  }
  writer.sendNews(reasoningNews(shown, view));
  writer.sendText();
  writer.sendNews(stateNews(shown, view));
  writer.sendNews(phaseNews(shown.phases, view));
  // an exchange that ends or waits is shown after what it did
  writer.sendNews(begun ? [] : exchangeNews(shown, view));
  return writer.step({ ...shownOf(view), phases: view.phases });
}

function isAtWork({ exchange }: LiveView): boolean {
  return exchange?.state === "queued" || exchange?.state === "running";
}

function createWriter(cursor: LiveCursor, view: LiveView) {
  const { live } = view;
  const events: LiveEvent[] = [];
  let { position, at } = cursor;

  const send = (news: LiveNews): void => {
    events.push({ id: writePosition(position), ...news });
  };
  const move = (changed: Partial<LivePosition>): void => {
    position = { ...position, ...changed };
  };
  const endText = (): void => {
    const { seq, revision } = position;
    position = { ...positionAfter(seq), revision };
    at = 0;
  };
  /** Compares what the reader has with the beginning of a text, and finds where it ends. */
  const isBeginningOf = (text: string): boolean => {
    const end = endOf(text, position.offset);
    if (end === null || addToChecksum(EMPTY_CHECKSUM, text.slice(0, end)) !== position.checksum) {
      return false;
    }
    at = end;
    return true;
  };
  /** The rest of the text that the reader has in part; null if it has all. */
  const takeRest = (whole: string): TextPiece | null => {
    const { message_id, attempt, offset, checksum } = position;
    const text = at === null ? "" : whole.slice(at);
    if (message_id === null || at === null || text === "") {
      return null;
    }
    at += text.length;
    move({ offset: offset + codePoints(text), checksum: addToChecksum(checksum, text) });
    return { message_id, attempt, offset, text };
  };
  const takeLive = (): TextPiece | null => {
    if (live === null || live.message_id === null || live.text === "") {
      return null;
    }
    if (position.message_id === null) {
      const { n, attempt, message_id } = live;
      move({ n, attempt, message_id });
    }
    return takeRest(live.text);
  };
  const reset = (): void => {
    const { message_id, attempt } = position;
    if (message_id !== null) {
      endText();
      send({ event: "reset", data: { message_id, attempt } });
    }
  };
  /** False if the text that the reader has is void. Between two answers, it may still be stored. */
  const mayContinue = (): boolean => {
    const { message_id, n, attempt } = position;
    if (message_id === null) {
      return true;
    }
    if (live === null || live.n !== n || live.attempt !== attempt) {
      return false;
    }
    if (live.message_id === null) {
      return (view.state?.retry ?? null) === null;
    }
    if (live.message_id !== message_id) {
      return false;
    }
    return at !== null || endOf(live.text, position.offset) === null || isBeginningOf(live.text);
  };

  const sendMessage = (message: Message): void => {
    const { seq, message_id, content } = message;
    if (message_id === position.message_id) {
      const { n, attempt } = position;
      if (!isBeginningOf(content)) {
        reset();
        move({ n, attempt, message_id });
      }
      const text = takeRest(content);
      if (text !== null) {
        send({ event: "text", data: text });
      }
      endText();
    }
    move({ seq: Math.max(seq, position.seq) });
    send({ event: "message", data: message });
  };

  return {
    /** The text is in the snapshot, unless something comes before it. */
    snapshot: (): ShownStates => {
      const { session, exchange } = view;
      const isNext = view.messages.length === 0 && !view.more && mayContinue();
      move({ revision: exchange?.revision ?? 0 });
      const text = isNext ? takeLive() : null;
      const shown = shownOf(view);
      const { last_seq } = session;
      const { questions, calls, outputs } = shown;
      send({
        event: "snapshot",
        data: {
          ...shown,
          session,
          questions: [...questions],
          calls: [...calls],
          outputs: [...outputs],
          text,
          last_seq,
        },
      });
      return { ...shown, phases: view.phases };
    },
    /** True if there was any. */
    sendNews: (news: readonly LiveNews[]): boolean => {
      for (const each of news) {
        if (each.event === "exchange") {
          move({ revision: each.data.revision });
        }
        send(each);
      }
      return news.length > 0;
    },
    sendMessage,
    sendText: (): void => {
      const { answer } = view;
      const isOver = !mayContinue() || (live?.text ?? "") === "";
      if (isOver && answer !== null && answer.message_id === position.message_id) {
        sendMessage(answer);
      }
      if (!mayContinue()) {
        reset();
      }
      const text = takeLive();
      if (text !== null) {
        send({ event: "text", data: text });
      }
    },
    step: (shown: ShownStates): LiveStep => ({ events, cursor: { position, at, shown } }),
  };
}
