import { eventsBetween, type LiveCursor, type LiveStep } from "./events-between.ts";
import type { LiveView } from "./live-view.ts";
import type { Portion } from "./source.ts";

/** Step that brings a reader to a view, and whether more follows. */
export interface FeedStep extends LiveStep, Portion<LiveCursor> {
  /** True if a reader that was there before would get nothing. */
  readonly isKnown: boolean;
}

/** Makes the steps to one view. */
export type StepsTo<Step> = (view: LiveView) => (cursor: LiveCursor) => Step;

export function stepTo(from: LiveCursor, view: LiveView): FeedStep {
  const { events, cursor } = eventsBetween(from, view);
  return {
    events,
    cursor,
    more: view.more,
    isLast: view.session.state === "ended" && !view.more,
    isKnown: events.every(({ event, data }) => event === "snapshot" && data.text === null),
  };
}
