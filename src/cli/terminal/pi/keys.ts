// deep paths: the package's index loads every component
import { StdinBuffer } from "@earendil-works/pi-tui/dist/stdin-buffer.js";

export {
  decodePrintableKey,
  isKeyRelease,
  type KeyId,
  matchesKey,
  parseKey,
} from "@earendil-works/pi-tui/dist/keys.js";

const ESCAPE = "\u001b";

/**
 * Calls the listener with each key of what a terminal sent; a key may be torn over several calls. An escape character
 * alone is a key: who read it has waited for the rest, and keys that were held meanwhile come at once.
 */
export function createKeySplitter(onKey: (key: string) => void): (keys: string) => void {
  const buffer = new StdinBuffer();
  buffer.on("data", onKey);
  return (keys) => {
    buffer.process(keys);
    if (keys === ESCAPE) {
      buffer.flush().forEach(onKey);
    }
  };
}
