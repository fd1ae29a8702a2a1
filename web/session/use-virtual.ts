import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

/** Pixels of a row that nobody has seen. */
const ESTIMATE = 84;
/** Browsers lay out at most about 17 million pixels: rows that nobody has seen get less if there are very many. */
const MAX_HEIGHT = 12_000_000;
/** Pixels from the end within which a reader is at the end. */
export const AT_END = 48;
/** Rows beyond the window. */
const OVERSCAN = 6;

export type Rows = Virtualizer<HTMLDivElement, HTMLDivElement>;

/**
 * The rows of a list that is read from its end. Row `index` shows what has the key `first + index`. What is in view does not
 * move while rows above it get their heights and rows are added; at the end, new rows are followed.
 */
export function useRows(list: {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly count: number;
  readonly first: number;
}): Rows {
  const { scroller, count, first } = list;
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const estimate = Math.min(ESTIMATE, Math.max(8, Math.floor(MAX_HEIGHT / Math.max(1, count))));
  const given = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey: keyFrom(first),
    overscan: OVERSCAN,
    anchorTo: "end" as const,
    followOnAppend: true,
    scrollEndThreshold: AT_END,
    initialOffset: () => count * estimate,
    observeElementRect: observeSize,
    observeElementOffset,
    measureElement: exactHeight,
    scrollToFn: elementScroll,
    // drawn in a microtask: before the browser paints what the library has just scrolled to
    onChange: () => draw(null),
  };
  const [rows] = useState(() => {
    const made = new Virtualizer<HTMLDivElement, HTMLDivElement>(given);
    // what ends above the window never moves what is in it, whichever way the reader scrolls
    made.shouldAdjustScrollPositionOnItemSizeChange = ({ key, start, size }, _, { scrollOffset }) =>
      made.itemSizeCache.has(key)
        ? start + size <= (scrollOffset ?? 0)
        : start < (scrollOffset ?? 0);
    // as of the last size and place that were observed: a window that got smaller since then has a reader at the end
    made.isAtEnd = (threshold = AT_END) =>
      made.getTotalSize() - (made.scrollRect?.height ?? 0) - (made.scrollOffset ?? 0) <= threshold;
    return made;
  });
  rows.setOptions(given);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}

/** Who is at the end stays there when the window gets smaller, such as for a question, a notice or a keyboard. */
const observeSize: typeof observeElementRect = (rows, listener) =>
  observeElementRect(rows, (rect) => {
    const wasAtEnd = rows.scrollRect !== null && rows.isAtEnd(AT_END);
    listener(rect);
    if (wasAtEnd && rows.options.count > 0) {
      rows.scrollToEnd();
    }
  });

/** The library rounds heights; many rounded ones would move the rows by some pixels. */
function exactHeight(
  row: HTMLDivElement,
  entry: ResizeObserverEntry | undefined,
  rows: Rows,
): number {
  return (
    entry?.borderBoxSize[0]?.blockSize ??
    rows.itemSizeCache.get(rows.options.getItemKey(rows.indexFromElement(row))) ??
    row.getBoundingClientRect().height
  );
}

const keys = new Map<number, (index: number) => number>();

/** The same function for the same position: the library measures all again for another one. */
function keyFrom(first: number): (index: number) => number {
  const known = keys.get(first) ?? ((index: number) => first + index);
  keys.set(first, known);
  return known;
}
