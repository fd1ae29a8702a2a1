import xterm from "@xterm/headless";

import type { RawTerminal, TerminalSize } from "../../src/cli/process/raw-terminal.ts";

/**
 * A terminal emulator that reads what a program writes, answers, and passes on its size only when a test calls for it: each
 * interleaving of these can be made, without time.
 */
export interface LateTerminal {
  /** The terminal as the program sees it. */
  readonly raw: RawTerminal;
  /** Asks for the position of the cursor, at the right edge; resolves when the program has read the answer. */
  askCursor(): Promise<{ readonly row: number; readonly columns: number }>;
  /** How many characters the program has written that the terminal has not read. */
  unread(): number;
  /** Reads so many of them. */
  read(count: number): void;
  /** Gives the program the oldest answer; false if there is none. */
  answer(): boolean;
  /**
   * Changes its size, of which the program does not know. False if no program could find out what that does: the width
   * comes back to one that it has had since its last answer, or the height changes while a row waits to be wrapped, in
   * which this emulator loses a character.
   */
  resize(size: TerminalSize): boolean;
  readonly size: TerminalSize;
  /** Gives the program the next size that it has not learned; false if it knows all. The event comes with `notify`. */
  learn(): boolean;
  /** Sends the program the event of a changed size. */
  notify(): void;
  /** All rows, those that were scrolled out of the window first. */
  everything(): string[];
  /** All that it has read. */
  written(): string;
  close(): void;
}

/** A program's writes wait when so many characters were not read. */
const FULL = 4096;
// oxlint-disable-next-line no-control-regex -- the answer of a terminal
const CURSOR_ANSWER = /^\u001b\[(\d+);(\d+)R$/;

export function openLateTerminal(first: TerminalSize, reflow: boolean): LateTerminal {
  const emulator = new xterm.Terminal({
    cols: first.columns,
    rows: first.rows,
    scrollback: 5_000,
    allowProposedApi: true,
    // the emulator's own way to say that the terminal does not wrap again
    ...(reflow ? {} : { windowsPty: { backend: "conpty", buildNumber: 1 } as const }),
  });
  let [unread, written] = ["", ""];
  let taken: PromiseWithResolvers<void> | null = null;
  const answers: string[] = [];
  const asked: ((answer: { row: number; columns: number }) => void)[] = [];
  const sizes: TerminalSize[] = [];
  let known = first;
  let seen = new Set([first.columns]);
  const listeners = new Set<() => void>();
  emulator.onData((answer) => {
    if (answer !== "") {
      answers.push(answer);
      seen = new Set([emulator.cols]);
    }
  });
  const isAtEdge = (): boolean => emulator.buffer.active.cursorX === emulator.cols;
  return {
    raw: {
      size: () => known,
      draw: (text) => {
        unread += text;
      },
      drained: () => {
        if (unread.length <= FULL) {
          return null;
        }
        taken ??= Promise.withResolvers();
        return taken.promise;
      },
      onResize: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      restoreWith: () => undefined,
    },
    askCursor: () => {
      unread += "\u001b[9999C\u001b[6n\r";
      return new Promise((resolve) => asked.push(resolve));
    },
    unread: () => unread.length,
    read: (count) => {
      const text = unread.slice(0, count);
      unread = unread.slice(count);
      written += text;
      // what comes after input is shown at once
      emulator.input("");
      emulator.write(text);
      if (unread.length <= FULL) {
        taken?.resolve();
        taken = null;
      }
    },
    answer: () => {
      const [, row, columns] = CURSOR_ANSWER.exec(answers.shift() ?? "") ?? [];
      if (row === undefined) {
        return false;
      }
      asked.shift()?.({ row: Number(row), columns: Number(columns) });
      return true;
    },
    resize: (size) => {
      const isSameWidth = size.columns === emulator.cols;
      if (isSameWidth ? isAtEdge() : seen.has(size.columns)) {
        return false;
      }
      emulator.resize(size.columns, size.rows);
      sizes.push(size);
      seen.add(size.columns);
      return true;
    },
    get size() {
      return { columns: emulator.cols, rows: emulator.rows };
    },
    learn: () => {
      known = sizes.shift() ?? known;
      return sizes.length > 0;
    },
    notify: () => {
      for (const listener of listeners) {
        listener();
      }
    },
    everything: () => {
      const { active } = emulator.buffer;
      return Array.from({ length: active.length }, (_, row) =>
        (active.getLine(row)?.translateToString(true, 0, emulator.cols) ?? "").replace(/ +$/, ""),
      );
    },
    written: () => written,
    close: () => emulator.dispose(),
  };
}
