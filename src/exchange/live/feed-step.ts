import { eventsBetween, type LiveCursor, type LiveStep } from "./events-between.ts";
import type { LiveView } from "./live-view.ts";

/** What brings a reader to a view, and whether more follows. */
export interface FeedStep extends LiveStep {
  /** True if more messages follow. */
  readonly more: boolean;
  /** True if nothing will ever follow. */
  readonly isLast: boolean;
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
