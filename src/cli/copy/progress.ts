import type { CopyProgress } from "../../store/portable/copy-store.ts";
import { type CliContext, noticeLine } from "../context.ts";
import { plural } from "../plural.ts";

/** Milliseconds between two lines. */
const PAUSE_MS = 2000;

/** Says now and then how far it is, to a person who waits at a terminal. */
export function progressLines(cli: CliContext): (progress: CopyProgress) => void {
  if (!cli.stderr.isTTY) {
    return () => undefined;
  }
  let last = performance.now();
  return ({ all, done }) => {
    if (performance.now() - last < PAUSE_MS) {
      return;
    }
    last = performance.now();
    const percent = Math.floor((100 * done.messages) / Math.max(all.messages, 1));
    noticeLine(
      cli,
      `${done.sessions} of ${plural(all.sessions, "session")}, ${done.messages} of ${plural(all.messages, "message")} (${percent} %)`,
    );
  };
}
