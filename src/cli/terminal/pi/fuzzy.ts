export { fuzzyFilter, fuzzyMatch } from "@earendil-works/pi-tui/dist/fuzzy.js";
