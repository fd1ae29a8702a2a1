import { oneLine } from "../../core/terminal-text.ts";
import { plural } from "../../core/text.ts";
import type { ThreadStats } from "../../store/checkpoints/thread-stats.ts";

/** A line for each thread that goes. */
export function deletionLines(threads: readonly ThreadStats[]): string[] {
  return threads.map(({ thread_id, messages, checkpoints, bytes, interrupted }) => {
    const sizes = [
      plural(messages, "message"),
      plural(checkpoints, "checkpoint"),
      plural(bytes, "byte"),
    ];
    return `  ${oneLine(thread_id)}  (${interrupted ? "interrupted; " : ""}${sizes.join(", ")})`;
  });
}
