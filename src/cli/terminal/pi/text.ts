// deep paths: the package's index loads every component, and these are needed at the first key
export { getGraphemeSegmenter, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
export { findWordBackward, findWordForward } from "@earendil-works/pi-tui/dist/word-navigation.js";
