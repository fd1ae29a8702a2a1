import { exactLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import type {
  DamagedThread,
  ThreadStats,
} from "../../../store/checkpoints/threads/thread-stats.ts";

/** A line for each thread that goes. */
export function deletionLines(threads: readonly (ThreadStats | DamagedThread)[]): string[] {
  return threads.map((thread) => `  ${exactLine(thread.thread_id)}  (${stateText(thread)})`);
}

function stateText(thread: ThreadStats | DamagedThread): string {
  if ("damaged" in thread) {
    return "damaged";
  }
  const sizes = [
    plural(thread.messages, "message"),
    plural(thread.checkpoints, "checkpoint"),
    plural(thread.bytes, "byte"),
  ];
  return `${thread.interrupted ? "interrupted; " : ""}${sizes.join(", ")}`;
}
