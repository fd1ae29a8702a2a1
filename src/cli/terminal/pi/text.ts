// deep paths: the package's index loads every component, and these are needed at the first key
import {
  cjkBreakRegex,
  getGraphemeSegmenter,
  sliceByColumn,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui/dist/utils.js";

import type { CellText } from "../cell-text.ts";

export { findWordBackward, findWordForward } from "@earendil-works/pi-tui/dist/word-navigation.js";
export { cjkBreakRegex, getGraphemeSegmenter, sliceByColumn, visibleWidth, wrapTextWithAnsi };

/** Wide characters, emoji and marks as terminals show them. */
export const cellText: CellText = {
  width: visibleWidth,
  cut: (row, columns) => truncateToWidth(row, columns, ""),
  wrap: wrapTextWithAnsi,
};
