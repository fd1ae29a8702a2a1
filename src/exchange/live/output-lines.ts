import type { LiveOutput } from "../../core/live/live-state.ts";
import { outputLine } from "../../core/text/output-line.ts";

/**
 * Lines of one call that readers are shown while it runs, and their bytes in UTF-8: more than any screen shows of it, and
 * so few that 4 events a second with all of them need 16 KiB/s. A line alone is never longer: it has 500 characters,
 * each of which becomes 8 at most.
 */
const MAX_LINES = 20;
const MAX_BYTES = 4096;

/** The end of what a call prints. Its cost grows with the bytes that come, and its memory does not. */
export class OutputLines {
  readonly #call_id: string;
  /** The last lines, cleaned. */
  #kept: readonly string[] = [];
  #count = 0;

  constructor(call_id: string) {
    this.#call_id = call_id;
  }

  /** Adds whole lines; the last one may lack its line feed. */
  add(text: string): void {
    const lines = text.endsWith("\n") ? text : `${text}\n`;
    this.#count += lineFeeds(lines);
    const last = lastLines(lines).split("\n").slice(0, -1).map(outputLine);
    this.#kept = [...this.#kept, ...last].slice(-MAX_LINES);
  }

  get value(): LiveOutput {
    let from = this.#kept.length;
    let bytes = 0;
    while (from > 0) {
      bytes += Buffer.byteLength(this.#kept[from - 1] ?? "") + 1;
      if (bytes > MAX_BYTES) {
        break;
      }
      from -= 1;
    }
    const shown = this.#kept.slice(from);
    return {
      call_id: this.#call_id,
      lines_before: this.#count - shown.length,
      text: shown.map((line) => `${line}\n`).join(""),
    };
  }
}

/** Reads what is new of the output of calls from a live feed, each line once: a connection begins with the last ones. */
export class OutputPieces {
  readonly #read = new Map<string, LiveOutput>();

  /** The lines that follow what was read of the call, and how many are missing before them; null if none are new. */
  add(output: LiveOutput): { readonly text: string; readonly missing: number } | null {
    const before = this.#read.get(output.call_id);
    const news = linesAfter(before, output);
    if (news === null) {
      return null;
    }
    this.#read.set(output.call_id, output);
    const missing = news.lines_before - (before === undefined ? 0 : endOf(before));
    return { text: news.text, missing: Math.max(0, missing) };
  }

  /** The call has its result, or gets none. */
  forget(call_id: string): void {
    this.#read.delete(call_id);
  }

  clear(): void {
    this.#read.clear();
  }
}

/** The lines that a reader of `before` lacks; null if it has all, or knows more than another node has stored. */
export function linesAfter(before: LiveOutput | undefined, now: LiveOutput): LiveOutput | null {
  const end = before === undefined ? 0 : endOf(before);
  if (endOf(now) <= end) {
    return null;
  }
  const lines = now.text.split("\n");
  const known = Math.max(0, end - now.lines_before);
  return {
    call_id: now.call_id,
    lines_before: now.lines_before + known,
    text: lines.slice(known).join("\n"),
  };
}

function endOf({ lines_before, text }: LiveOutput): number {
  return lines_before + lineFeeds(text);
}

/** The last `MAX_LINES` lines of a text that ends with a line feed. */
function lastLines(text: string): string {
  let start = text.length - 1;
  for (let lines = 0; lines < MAX_LINES && start >= 0; lines += 1) {
    start = start === 0 ? -1 : text.lastIndexOf("\n", start - 1);
  }
  return text.slice(start + 1);
}

function lineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    count += 1;
  }
  return count;
}
