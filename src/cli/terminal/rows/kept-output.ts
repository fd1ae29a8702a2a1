import { outputLine } from "../../../core/text/output-line.ts";

/** Characters of one command's output that are kept, the last ones. */
const MAX_KEPT = 256 * 1024;

/** Output of a command so far. */
export interface KeptOutput {
  readonly count: number;
  readonly size: number;
  /** The last lines, clean. */
  last(count: number): string[];
  /** All lines that are kept, clean. */
  lines(): string[];
}

/** Keeps the end of what a command prints. Pieces are whole lines. */
export function createKeptOutput(): KeptOutput & { add(text: string): void } {
  let kept: string[] = [];
  let size = 0;
  let count = 0;
  const drop = (): void => {
    let from = 0;
    while (size > MAX_KEPT && from < kept.length - 1) {
      size -= sizeOf(kept[from] ?? "");
      from += 1;
    }
    kept = kept.slice(from);
  };
  return {
    get count() {
      return count;
    },
    get size() {
      return size;
    },
    add: (text) => {
      for (const line of text.replace(/\n$/, "").split("\n")) {
        const shown = outputLine(line);
        kept.push(shown);
        size += sizeOf(shown);
        count += 1;
      }
      // dropping a tenth at a time keeps the cost in proportion to the output
      if (size > MAX_KEPT * 1.1) {
        drop();
      }
    },
    last: (lines) => kept.slice(-lines),
    lines: () => [
      ...(kept.length < count ? [`… ${count - kept.length} lines before are not kept`] : []),
      ...kept,
    ],
  };
}

/** Empty lines take memory too. */
function sizeOf(line: string): number {
  return line.length + 1;
}
