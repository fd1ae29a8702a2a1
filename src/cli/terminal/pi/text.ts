// deep paths: the package's index loads every component, and these are needed at the first key
import {
  cjkBreakRegex,
  getGraphemeSegmenter,
  sliceByColumn,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui/dist/utils.js";

import type { CellText } from "./cell-text.ts";

export { findWordBackward, findWordForward } from "@earendil-works/pi-tui/dist/word-navigation.js";
export { cjkBreakRegex, getGraphemeSegmenter, sliceByColumn, visibleWidth, wrapTextWithAnsi };

/** Characters of a row that are wrapped at once: the time grows with the square of a word's length. */
const MAX_WRAPPED = 4000;

const WRAPPED = new RegExp(`.{1,${MAX_WRAPPED}}`, "gsu");

/** Wide characters, emoji and marks as terminals show them. */
export const cellText: CellText = {
  width: visibleWidth,
  cut: (row, columns) => truncateToWidth(row, columns, ""),
  wrap: (row, columns) =>
    (row.match(WRAPPED) ?? [""]).flatMap((piece) => wrapTextWithAnsi(piece, columns)),
};
