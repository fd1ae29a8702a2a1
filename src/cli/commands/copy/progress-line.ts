import { type CliContext, noticeLine } from "../../process/context.ts";

/** Milliseconds between two lines. */
const PAUSE_MS = 2000;

/** Shows one line every two seconds to a person at a terminal. */
export function progressLine(cli: CliContext): (text: () => string) => void {
  if (!cli.stderr.isTTY) {
    return () => undefined;
  }
  let last = performance.now();
  return (text) => {
    if (performance.now() - last < PAUSE_MS) {
      return;
    }
    last = performance.now();
    noticeLine(cli, text());
  };
}
