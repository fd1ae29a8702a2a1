import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";

import xterm from "@xterm/headless";
import { describe, expect, it, onTestFinished } from "vitest";

import { cellText } from "../../../src/cli/terminal/pi/text.ts";
import { Renderer } from "../../../src/cli/terminal/screen/renderer.ts";
import { openTty } from "../../../src/cli/terminal/screen/tty.ts";
import type { RawTerminal } from "../../../src/cli/process/raw-terminal.ts";

/** A terminal that shows what is drawn, and takes nothing while it is blocked. */
function emulated(columns: number, rows: number) {
  const emulator = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 50_000,
    allowProposedApi: true,
  });
  const resized = new EventEmitter();
  let written = "";
  let asked = 0;
  let blocked: PromiseWithResolvers<void> | null = null;
  const terminal: RawTerminal = {
    size: () => ({ columns: emulator.cols, rows: emulator.rows }),
    draw: (text) => {
      written += text;
      emulator.write(text);
    },
    drained: () => {
      asked += blocked === null ? 0 : 1;
      return blocked?.promise ?? null;
    },
    onResize: (listener) => {
      resized.on("resize", listener);
      return () => void resized.off("resize", listener);
    },
    restoreWith: () => undefined,
  };
  onTestFinished(() => emulator.dispose());
  return {
    terminal,
    written: () => written,
    /** How often it was asked while it was blocked. */
    asked: () => asked,
    block: () => (blocked = Promise.withResolvers()),
    unblock: () => {
      blocked?.resolve();
      blocked = null;
    },
    resize: (newColumns: number, newRows: number) => {
      emulator.resize(newColumns, newRows);
      resized.emit("resize");
    },
    shown: async (): Promise<string[]> => {
      await new Promise<void>((resolve) => emulator.write("", resolve));
      const { active } = emulator.buffer;
      return Array.from({ length: active.length }, (_, row) =>
        (active.getLine(row)?.translateToString(true) ?? "").trimEnd(),
      );
    },
  };
}

function renderer(terminal: RawTerminal, live: readonly string[] = ["> ", "status"]) {
  const made = new Renderer({
    terminal,
    live: () => live,
    text: () => cellText,
    drawn: () => undefined,
    reflows: true,
    askCursor: () => null,
  });
  onTestFinished(() => made.close());
  return made;
}

/** What the live rows have, too. */
const LIVE_LETTERS = /[> staus]/g;

/** Erases the screen or the scrollback. */
// oxlint-disable-next-line no-control-regex -- these are the sequences
const NEVER = /\u001b\[[23]J/;

describe("a terminal of any kind", () => {
  it.each([
    [1, 1],
    [2, 2],
    [20, 5],
    [500, 200],
  ])("[TERM-1] of %i columns and %i rows shows what is finished once", async (columns, rows) => {
    const screen = emulated(columns, rows);
    const drawing = renderer(screen.terminal);
    drawing.enter();
    drawing.finish(["first", "second"].flatMap((row) => cellText.wrap(row, columns)));
    drawing.enter();
    screen.resize(columns + 1, rows + 1);
    drawing.finish(["third"].flatMap((row) => cellText.wrap(row, columns)));
    drawing.leave();
    const shown = (await screen.shown()).join("");
    expect(shown.replaceAll(LIVE_LETTERS, "")).toBe("firecondhird");
    expect(screen.written()).not.toMatch(NEVER);
  });

  it("[TERM-1] gets a row of 1 MB and 10,000 rows that come at once, in order", async () => {
    const screen = emulated(80, 24);
    const drawing = renderer(screen.terminal);
    drawing.enter();
    drawing.finish(cellText.wrap("x".repeat(1_000_000), 80));
    for (let row = 0; row < 10_000; row += 1) {
      drawing.finish([`row ${row}`]);
    }
    drawing.leave();
    const shown = await screen.shown();
    expect(shown.filter((row) => /^x+$/.test(row)).join("")).toHaveLength(1_000_000);
    expect(shown.filter((row) => row.startsWith("row "))).toEqual(
      Array.from({ length: 10_000 }, (_, row) => `row ${row}`),
    );
  });

  it("[TERM-7] that takes nothing gets the last rows and how many are missing, in little memory", async () => {
    const screen = emulated(80, 24);
    const drawing = renderer(screen.terminal);
    drawing.enter();
    screen.block();
    const before = screen.written().length;
    const row = "y".repeat(70);
    for (let count = 0; count < 200_000; count += 1) {
      drawing.finish([`${row} ${count}`]);
    }
    await expect.poll(screen.asked).toBeGreaterThan(0);
    expect(screen.written()).toHaveLength(before);
    screen.unblock();
    await expect.poll(() => screen.written().length).toBeGreaterThan(before);
    const text = screen.written().slice(before);
    expect(text.length).toBeLessThan(9 * 1024 * 1024);
    const missing = Number(/… (\d+) rows are missing here/.exec(text)?.[1]);
    expect(missing).toBeGreaterThan(0);
    expect(text).toContain(`${row} ${missing}\r\n`);
    expect(text).not.toContain(`${row} ${missing - 1}\r\n`);
    expect(text).toContain(`${row} 199999\r\n`);
  });
});

describe("what a terminal answers", () => {
  const CURSOR = /\u001b\[(\d+);\d+R/; // oxlint-disable-line no-control-regex -- an answer
  function tty() {
    const stdin = new PassThrough();
    let keys = "";
    let pasted = "";
    const { terminal, written } = emulated(80, 24);
    const opened = openTty({ stdin }, terminal, {
      keys: (text) => (keys += text),
      paste: (text) => (pasted += text),
      end: () => undefined,
      lost: () => undefined,
    });
    return { stdin, opened, written, keys: () => keys, pasted: () => pasted };
  }

  it("[TERM-8] is understood wherever it is torn, and keys around it stay keys", async () => {
    const answer = "a\u001b[12;40Rb";
    for (let cut = 1; cut < answer.length; cut += 1) {
      const { stdin, opened, keys } = tty();
      const row = opened.ask("", CURSOR, 10_000);
      stdin.write(answer.slice(0, cut));
      await new Promise(setImmediate);
      stdin.write(answer.slice(cut));
      expect((await row)?.[1], `cut at ${cut}`).toBe("12");
      await expect.poll(keys, { interval: 1 }).toBe("ab");
    }
  });

  it("[TERM-8] is not a key if it comes late, and pasted text is not an answer", async () => {
    const { stdin, opened, keys, pasted } = tty();
    const row = opened.ask("", CURSOR, 100);
    stdin.write("\u001b[200~x\u001b[3;4Ry\u001b[201~");
    await expect.poll(pasted).toBe("x\u001b[3;4Ry");
    expect(await row).toBeNull();
    stdin.write("a\u001b[5;1Rb");
    await expect.poll(keys).toBe("ab");
    // the next key of that form is a key again
    stdin.write("\u001b[5;1R");
    await expect.poll(keys).toBe("ab\u001b[5;1R");
  });

  it.each([
    ["knows the protocol", "\u001b[?0u\u001b[?62;22c", 1],
    ["does not", "\u001b[?1;2c", 0],
  ])(
    "[TERM-8] [TERM-95] says whether it has all keys, wherever that is torn: it %s",
    async (_, answer, pushed) => {
      for (let cut = 1; cut < answer.length; cut += 1) {
        const { stdin, opened, keys, written } = tty();
        const asked = opened.askForAllKeys();
        stdin.write(answer.slice(0, cut));
        await new Promise(setImmediate);
        stdin.write(answer.slice(cut));
        await asked;
        expect(written().split("\u001b[>5u"), `cut at ${cut}`).toHaveLength(1 + pushed);
        stdin.write("b");
        await expect.poll(keys, { interval: 1 }).toBe("b");
        await opened.leave();
        expect(written().split("\u001b[<u"), `cut at ${cut}`).toHaveLength(1 + pushed);
      }
    },
  );

  it("[TERM-8] does not hold Esc back for longer than an answer may take", async () => {
    const { stdin, opened, keys } = tty();
    void opened.ask("", CURSOR, 10_000);
    stdin.write("\u001b");
    await expect.poll(keys).toBe("\u001b");
  });
});
