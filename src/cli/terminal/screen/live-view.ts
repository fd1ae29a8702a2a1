import type { Part } from "./screen.ts";

/** A part that has the keys instead of the conversation's editor: a question. */
export interface LiveView extends Part {
  /** The terminal shows the rows that were composed: keys that it sends from now on count. */
  armed(): void;
  /** Another program has the terminal now: keys count once the rows were drawn again. */
  hidden(): void;
  /** False for a key that is not for this view: it belongs to the editor of the conversation. */
  key(data: string): boolean;
  /** As `key`. */
  paste(text: string): boolean;
}
