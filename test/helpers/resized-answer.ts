import { vi } from "vitest";

import type { TerminalSize } from "../../src/cli/process/raw-terminal.ts";
import { cellText } from "../../src/cli/terminal/pi/text.ts";
import { Renderer } from "../../src/cli/terminal/screen/renderer.ts";
import { type LateTerminal, openLateTerminal } from "./late-terminal.ts";

export interface ResizedAnswer {
  readonly terminal: LateTerminal;
  readonly renderer: Renderer;
  /** Adds a word to the paragraph that is drawn in the live rows, which ends with the paragraph's last word. */
  word(): void;
  /** What the program does at once, and what waits for that. */
  react(): Promise<void>;
  /** Has the program learn each size, and each side read all of the other, until nothing happens any more. */
  settle(): Promise<void>;
  /** Ends the program. */
  end(): Promise<FoundWords>;
}

export interface FoundWords {
  /** Words of finished rows that are not in the terminal, and those that are there more than once. */
  readonly missing: number[];
  readonly twice: number[];
  /** Words of live rows. */
  readonly live: number;
  /** Rows that the shell had printed. */
  readonly shell: number;
}

/** Rows that the shell prints before the program begins. */
export const SHELL_ROWS = 12;

export interface ResizedAnswerOptions {
  readonly size: TerminalSize;
  /** Whether the terminal wraps its rows again, and whether the program knows that. */
  readonly wraps: boolean;
  readonly isKnown: boolean;
  /** Words of a paragraph. */
  readonly paragraph: number;
  /** Columns that finished rows are wrapped at; those of the terminal if it is not given. */
  readonly columns?: number;
}

/** Words that a renderer draws, paragraph by paragraph, on a terminal that reads and answers when a test calls for it. */
export function openResizedAnswer(options: ResizedAnswerOptions): ResizedAnswer {
  const terminal = openLateTerminal(options.size, options.wraps);
  for (let row = 1; row <= SHELL_ROWS; row += 1) {
    terminal.raw.draw(`{${row}}\r\n`);
  }
  terminal.read(Infinity);
  let [line, word, finished] = ["", 0, 0];
  const renderer = new Renderer({
    terminal: terminal.raw,
    live: (width) => {
      const tail = cellText.wrap(line, width).slice(-6);
      return [...tail, "", "> ", "status ".padEnd(width - 1, "-")];
    },
    text: () => cellText,
    drawn: () => undefined,
    reflows: options.wraps && options.isKnown,
    askCursor: terminal.askCursor,
  });
  const react = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const settle = async (): Promise<void> => {
    do {
      while (terminal.learn()) {
        // only the last one counts
      }
      terminal.notify();
      await react();
      terminal.read(Infinity);
      while (terminal.answer()) {
        await react();
      }
      vi.advanceTimersByTime(40);
      await react();
    } while (terminal.unread() > 0 || vi.getTimerCount() > 0);
  };
  renderer.enter();
  return {
    terminal,
    renderer,
    word: () => {
      word += 1;
      line += `(${word}) `;
      if (word % options.paragraph === 0) {
        const words = Array.from({ length: word - finished }, (_, at) => `<${finished + at + 1}>`);
        const rows = cellText.wrap(words.join(" "), options.columns ?? renderer.width);
        renderer.finish([...rows, ""]);
        [line, finished] = ["", word];
      }
      renderer.draw();
    },
    react,
    settle,
    end: async () => {
      await settle();
      renderer.leave();
      await settle();
      renderer.close();
      terminal.read(Infinity);
      // a terminal may have broken a word in two
      const text = terminal.everything().join("").replaceAll(" ", "");
      const counts = countsOf(text.matchAll(/<(\d+)>/g));
      const all = Array.from({ length: finished }, (_, at) => at + 1);
      return {
        missing: all.filter((one) => !counts.has(one)),
        twice: all.filter((one) => (counts.get(one) ?? 0) > 1),
        live: countsOf(text.matchAll(/\((\d+)\)/g)).size,
        shell: countsOf(text.matchAll(/\{(\d+)\}/g)).size,
      };
    },
  };
}

function countsOf(matches: Iterable<RegExpMatchArray>): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [, word] of matches) {
    counts.set(Number(word), (counts.get(Number(word)) ?? 0) + 1);
  }
  return counts;
}
