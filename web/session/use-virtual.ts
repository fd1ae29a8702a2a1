import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import { options, type RefObject } from "preact";
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
 * The rows of a list that is read from its end. Row `index` shows what has the key `first + index`. What is in view stays
 * where it is while rows above it get their heights and rows are added; at the end, new rows are followed.
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
    observeElementRect,
    observeElementOffset,
    measureElement: exactHeight,
    scrollToFn: elementScroll,
    onChange: (_rows: Rows, sync: boolean) => {
      if (sync) {
        drawNow(() => draw(null));
      } else {
        draw(null);
      }
    },
  };
  const [rows] = useState(() => {
    const made = new Virtualizer<HTMLDivElement, HTMLDivElement>(given);
    // what ends above the window never moves what is in it, whichever way the reader scrolls
    made.shouldAdjustScrollPositionOnItemSizeChange = ({ key, start, size }, _, { scrollOffset }) =>
      made.itemSizeCache.has(key)
        ? start + size <= (scrollOffset ?? 0)
        : start < (scrollOffset ?? 0);
    return made;
  });
  rows.setOptions(given);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}

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

/** Draws before it returns, so that the rows move with the position that the library has just written. */
function drawNow(change: () => void): void {
  const { debounceRendering } = options;
  let flush: (() => void) | null = null;
  options.debounceRendering = (drawAll) => {
    flush = drawAll;
  };
  change();
  options.debounceRendering = debounceRendering;
  (flush as (() => void) | null)?.();
}

const keys = new Map<number, (index: number) => number>();

/** The same function for the same position: the library measures all again for another one. */
function keyFrom(first: number): (index: number) => number {
  const known = keys.get(first) ?? ((index: number) => first + index);
  keys.set(first, known);
  return known;
}
