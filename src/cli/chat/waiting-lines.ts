import { plural } from "../../core/text/text.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import type { Front } from "./front.ts";

interface Input {
  readonly cli: CliContext;
  readonly front: Front;
}

/** Says of a pipe that lines are left in it. */
export function noticeUnsent({ cli, front }: Input): void {
  if (front.waiting() > 0) {
    noticeLine(cli, "The rest of the input was not sent.");
  }
}

/** Drops messages that wait; a screen gives them back to the person. */
export function dropWaiting({ cli, front }: Input): void {
  if (front.waiting() > 0) {
    const sentence = dropped(front.drop()).trim();
    if (sentence !== "") {
      noticeLine(cli, sentence);
    }
  }
}

/** A sentence about lines that will not be sent; empty if there are none. */
export function dropped(lines: number): string {
  return lines === 0 ? "" : `${plural(lines, "line")} dropped, not sent. `;
}
