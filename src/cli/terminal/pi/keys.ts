// deep paths: the package's index loads every component
import { StdinBuffer } from "@earendil-works/pi-tui/dist/stdin-buffer.js";

export {
  decodePrintableKey,
  isKeyRelease,
  type KeyId,
  matchesKey,
  parseKey,
} from "@earendil-works/pi-tui/dist/keys.js";

/** Calls the listener with each key of what a terminal sent; a key may be torn over several calls. */
export function createKeySplitter(onKey: (key: string) => void): (keys: string) => void {
  const buffer = new StdinBuffer();
  buffer.on("data", onKey);
  return (keys) => buffer.process(keys);
}
