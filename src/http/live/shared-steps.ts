import type { LiveEvent } from "../../core/schemas/live.ts";
import { writePosition } from "../../core/live/live-position.ts";
import type { LiveCursor } from "../../exchange/live/events-between.ts";
import { type FeedStep, stepTo } from "../../exchange/live/feed-step.ts";
import type { LiveView } from "../../exchange/live/live-view.ts";
import { phaseFor, recordFor } from "../shown-failure.ts";
import type { SentPortion } from "../stream/serving.ts";

/** A step as bytes. */
export interface EncodedStep extends FeedStep, SentPortion<LiveCursor> {
  /** The same step for a caller who only reads: see `recordFor`. */
  forReader(): EncodedStep;
}

/** Positions whose steps are kept: those of real readers are few, others could be any number. */
const MAX_STEPS = 1000;

/** Steps to one view: readers with the same cursor share one, and have the same cursor after it. */
export type SharedSteps = (cursor: LiveCursor) => EncodedStep;

export function createSharedSteps(view: LiveView): SharedSteps {
  const steps = new Map<LiveCursor | string, EncodedStep>();
  const cursors = new Map<string, LiveCursor>();
  const share = (cursor: LiveCursor): LiveCursor => {
    const key = `${writePosition(cursor.position)} ${cursor.at}`;
    const shared = cursors.get(key) ?? cursor;
    if (cursors.size < MAX_STEPS) {
      cursors.set(key, shared);
    }
    return shared;
  };
  return (cursor) => {
    // readers that begin at one position are the same reader
    const from = cursor.shown === null ? writePosition(cursor.position) : cursor;
    const step = steps.get(from) ?? encode(cursor, view, share);
    if (steps.size < MAX_STEPS) {
      steps.set(from, step);
    }
    return step;
  };
}

function encode(
  from: LiveCursor,
  view: LiveView,
  share: (cursor: LiveCursor) => LiveCursor,
): EncodedStep {
  const step = stepTo(from, view);
  const cursor = view.more ? step.cursor : share(step.cursor);
  const storedMs = view.messages.map(({ ts }) => Date.parse(ts));
  const encoded = (
    events: FeedStep["events"],
    forReader: EncodedStep["forReader"],
  ): EncodedStep => {
    let bytes: Buffer | undefined;
    return {
      ...step,
      events,
      cursor,
      get bytes() {
        // bytes are shared, while each socket would encode a string again; other protocols write other bytes
        bytes ??= Buffer.from(events.map(lineOf).join(""));
        return events.length === 0 ? null : bytes;
      },
      storedMs,
      forReader,
    };
  };
  let readers: EncodedStep | undefined;
  const forReader = (): EncodedStep =>
    (readers ??= step.events.every((event) => eventForReader(event) === event)
      ? whole
      : encoded(step.events.map(eventForReader), () => forReader()));
  const whole = encoded(step.events, forReader);
  return whole;
}

function eventForReader(event: LiveEvent): LiveEvent {
  switch (event.event) {
    case "exchange": {
      const data = recordFor("reader", event.data);
      return data === event.data ? event : { ...event, data };
    }
    case "snapshot": {
      const { exchange } = event.data;
      const shown = exchange === null ? null : recordFor("reader", exchange);
      return shown === exchange ? event : { ...event, data: { ...event.data, exchange: shown } };
    }
    case "phase": {
      const data = phaseFor("reader", event.data);
      return data === event.data ? event : { ...event, data };
    }
    default:
      return event;
  }
}

/** This JSON has no line breaks, so one `data` line holds it. */
function lineOf({ id, event, data }: LiveEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
