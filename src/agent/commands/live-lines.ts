import { StringDecoder } from "node:string_decoder";

import type { Conceal } from "../../core/secrets.ts";

/** Characters of a line that are held back until its end. */
const MAX_HELD = 64 * 1024;

/** Gives on an output as text, in whole lines: within one, no secret is cut in two. */
export function createLiveLines(conceal: Conceal, give: (text: string) => void) {
  const decoder = new StringDecoder("utf8");
  let held = "";
  const giveUntil = (end: number): void => {
    const lines = held.slice(0, end);
    held = held.slice(end);
    if (lines !== "") {
      give(conceal(lines));
    }
  };
  return {
    push: (chunk: Buffer): void => {
      held += decoder.write(chunk);
      giveUntil(held.length > MAX_HELD ? held.length : held.lastIndexOf("\n") + 1);
    },
    end: (): void => {
      held += decoder.end();
      giveUntil(held.length);
    },
  };
}
