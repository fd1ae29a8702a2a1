import {
  defaultRangeExtractor,
  observeWindowOffset,
  observeWindowRect,
  type Range,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

/** Rows beyond the window. */
const OVERSCAN = 8;

/** The rows of a list that scrolls with the page: only those near to the window are made. */
export function useWindowRows(list: {
  readonly element: RefObject<HTMLElement | null>;
  readonly count: number;
  readonly keyOf: (index: number) => string;
  /** A row that is made wherever the window is, so that it keeps the focus; -1 for none. */
  readonly kept: number;
}): Virtualizer<Window, HTMLElement> {
  const { element, count, keyOf, kept } = list;
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const [estimate] = useState(rowHeight);
  const given = {
    count,
    getScrollElement: () => window,
    estimateSize: () => estimate,
    getItemKey: keyOf,
    overscan: OVERSCAN,
    rangeExtractor: (range: Range) => {
      const near = defaultRangeExtractor(range);
      return kept === -1 || near.includes(kept) ? near : [...near, kept].sort((a, b) => a - b);
    },
    scrollMargin: element.current?.offsetTop ?? 0,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialRect: { width: innerWidth, height: innerHeight },
    onChange: () => draw(null),
  };
  const [rows] = useState(() => new Virtualizer<Window, HTMLElement>(given));
  rows.setOptions(given);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}

/**
 * Pixels of a row that nobody has seen, as `list.css` makes it: with another height, rows that are measured would move
 * the place to which a reader comes back.
 */
function rowHeight(): number {
  if (matchMedia("(width < 62rem)").matches) {
    return 56;
  }
  return matchMedia("(pointer: coarse)").matches ? 45 : 42;
}
