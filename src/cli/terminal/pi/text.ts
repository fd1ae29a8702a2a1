// deep paths: the package's index loads every component, and these are needed at the first key
// oxlint-disable-next-line oxc/no-barrel-file -- the library is imported in this folder only
export {
  cjkBreakRegex,
  getGraphemeSegmenter,
  sliceByColumn,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui/dist/utils.js";
export { findWordBackward, findWordForward } from "@earendil-works/pi-tui/dist/word-navigation.js";
