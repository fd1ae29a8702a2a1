export { decodePrintableKey, parseKey } from "@earendil-works/pi-tui/dist/keys.js";
