import { isDeepStrictEqual } from "node:util";

import { spawn } from "@lydell/node-pty";
import xterm, { type IBufferLine } from "@xterm/headless";
import { expect, onTestFinished } from "vitest";

import type { Home } from "./reprise.ts";

/** A program in a real pseudo-terminal, and what a terminal emulator shows of it. */
export interface TestScreen {
  type(keys: string): void;
  kill(signal: NodeJS.Signals): void;
  /** The program learns of it after `delay` milliseconds. */
  resize(columns: number, rows: number, delay?: number): void;
  /** Takes nothing of what the program writes until `resume`. */
  pause(): void;
  resume(): void;
  /** Resolves once what is on the screen matches; rows are joined by line feeds. */
  until(what: RegExp | ((screen: string) => boolean)): Promise<string>;
  /** The rows of the window, without the spaces at their end. */
  rows(): string[];
  /** The same as one text. */
  text(): string;
  /** All rows, those that were scrolled out of the window first. */
  everything(): string[];
  /** What is in a cell: its characters and its width in columns. */
  cell(row: number, column: number): { readonly text: string; readonly width: number };
  /** The window's rows as runs of cells that look the same. */
  runs(): ScreenRun[][];
  /** Row and column of the cursor in the window, from 0. */
  cursor(): { readonly row: number; readonly column: number };
  /** True while the program shows the alternate screen. */
  isAlternate(): boolean;
  /** The title that the program gave to the window. */
  title(): string;
  /** The flags of the Kitty keyboard protocol that the main screen has, the last pushed one last. */
  keyboard(): readonly number[];
  /** All that the program wrote. */
  written(): string;
  /** Its exit code, once it has ended and all that it wrote is shown. */
  readonly finished: Promise<number>;
}

/** Cells beside each other that look the same. */
export interface ScreenRun {
  readonly text: string;
  /** The first cell, from 0. */
  readonly column: number;
  readonly columns: number;
  /** As in `#8fcf72`; null for the terminal's own, and for colours from its palette. */
  readonly colour: string | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly inverse: boolean;
}

export interface ScreenOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** False for a terminal that does not wrap its rows again when its width changes. */
  readonly reflow?: boolean;
  /** True for a terminal that knows the Kitty keyboard protocol. */
  readonly kitty?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Far more than any screen takes: it only says in a failure what was there instead. */
const WAIT_MS = 240_000;

/** Runs a command of the shell in a pseudo-terminal; without one, a shell for interactive use. */
export function openScreen(
  home: Home,
  command: string | null,
  { columns = 80, rows = 24, reflow = true, kitty = false, env = {} }: ScreenOptions = {},
): TestScreen {
  const emulator = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 20_000,
    allowProposedApi: true,
    // the emulator's own way to say that the terminal does not wrap again
    ...(reflow ? {} : { windowsPty: { backend: "conpty", buildNumber: 1 } as const }),
  });
  const args = command === null ? ["--norc", "--noprofile", "-i"] : ["-c", command];
  // the editor whose terminal has this emulator, which wraps again
  const program = reflow ? { TERM_PROGRAM: "vscode" } : {};
  const all = { ...home.environment(), TERM: "xterm-256color", ...program, PS1: "$ ", ...env };
  const pty = spawn(command === null ? "/bin/bash" : "/bin/sh", args, {
    name: "xterm-256color",
    cols: columns,
    rows,
    cwd: home.project,
    env: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
  });
  let written = "";
  let title = "";
  let gone = false;
  let look: () => void = () => undefined;
  const keyboard: number[] = [];
  if (kitty) {
    const isMain = (): boolean => emulator.buffer.active.type === "normal";
    emulator.parser.registerCsiHandler({ prefix: "?", final: "u" }, () => {
      pty.write(`\u001b[?${keyboard.at(-1) ?? 0}u`);
      return true;
    });
    emulator.parser.registerCsiHandler({ prefix: ">", final: "u" }, ([flags]) => {
      expect(isMain(), "the keys of the alternate screen are separate").toBe(true);
      keyboard.push(Number(flags));
      return true;
    });
    emulator.parser.registerCsiHandler({ prefix: "<", final: "u" }, () => {
      expect(isMain(), "the keys of the alternate screen are separate").toBe(true);
      keyboard.pop();
      return true;
    });
  }
  emulator.onTitleChange((text) => (title = text));
  // what a terminal answers to a query
  emulator.onData((answer) => {
    if (!gone) {
      pty.write(answer);
    }
  });
  pty.onData((text) => {
    written += text;
    emulator.write(text, () => look());
  });
  const finished = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      gone = true;
      emulator.write("", () => {
        look();
        resolve(exitCode);
      });
    });
  });
  onTestFinished(async () => {
    if (!gone) {
      pty.kill("SIGKILL");
      await finished;
    }
    emulator.dispose();
  });
  const { buffer } = emulator;
  const rowsFrom = (first: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) =>
      (
        buffer.active.getLine(first + index)?.translateToString(true, 0, emulator.cols) ?? ""
      ).replace(/ +$/, ""),
    );
  const window = (): string[] => rowsFrom(buffer.active.baseY, emulator.rows);
  const text = (): string => window().join("\n");
  return {
    type: (keys) => pty.write(keys),
    kill: (signal) => pty.kill(signal),
    resize: (newColumns, newRows, delay = 0) => {
      emulator.resize(newColumns, newRows);
      if (delay === 0) {
        pty.resize(newColumns, newRows);
      } else {
        setTimeout(() => pty.resize(newColumns, newRows), delay);
      }
    },
    pause: () => pty.pause(),
    resume: () => pty.resume(),
    until: (what) =>
      new Promise((resolve, reject) => {
        const matches = (shown: string): boolean =>
          typeof what === "function" ? what(shown) : what.test(shown);
        const fail = (why: string): void => {
          clearTimeout(timer);
          reject(new Error(`${why}: ${String(what)}\n${text()}`));
        };
        look = () => {
          // a program that has begun to draw has not drawn all of it
          if (!gone && emulator.modes.synchronizedOutputMode) {
            return;
          }
          const shown = text();
          if (matches(shown)) {
            clearTimeout(timer);
            look = () => undefined;
            resolve(shown);
          } else if (gone) {
            fail("the program ended, and the screen never matched");
          }
        };
        const timer = setTimeout(() => fail("the screen does not match"), WAIT_MS);
        look();
      }),
    rows: window,
    text,
    everything: () => rowsFrom(0, buffer.active.length),
    cell: (row, column) => {
      const cell = buffer.active.getLine(buffer.active.baseY + row)?.getCell(column);
      return { text: cell?.getChars() ?? "", width: cell?.getWidth() ?? 1 };
    },
    runs: () =>
      Array.from({ length: emulator.rows }, (_, row) =>
        runsOf(buffer.active.getLine(buffer.active.baseY + row)),
      ),
    cursor: () => ({ row: buffer.active.cursorY, column: buffer.active.cursorX }),
    isAlternate: () => buffer.active.type === "alternate",
    title: () => title,
    keyboard: () => keyboard,
    written: () => written,
    finished,
  };
}

function runsOf(line: IBufferLine | undefined): ScreenRun[] {
  const runs: ScreenRun[] = [];
  for (let column = 0; column < (line?.length ?? 0); column += 1) {
    const cell = line?.getCell(column);
    const columns = cell?.getWidth() ?? 0;
    if (cell === undefined || columns === 0) {
      continue;
    }
    const look = {
      colour: cell.isFgRGB() ? `#${cell.getFgColor().toString(16).padStart(6, "0")}` : null,
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
      italic: cell.isItalic() !== 0,
      inverse: cell.isInverse() !== 0,
    };
    const text = cell.getChars() || " ";
    const last = runs.at(-1);
    if (last !== undefined && isDeepStrictEqual(lookOf(last), look)) {
      runs[runs.length - 1] = { ...last, text: last.text + text, columns: last.columns + columns };
    } else {
      runs.push({ text, column, columns, ...look });
    }
  }
  return runs;
}

function lookOf({ text: _text, column: _column, columns: _columns, ...look }: ScreenRun) {
  return look;
}
