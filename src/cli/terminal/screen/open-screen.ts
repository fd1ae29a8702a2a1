import type { CliContext } from "../../process/context.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import { onSignals } from "../../process/signals.ts";
import { type CellText, simpleText } from "../pi/cell-text.ts";
import { Renderer } from "./renderer.ts";
import { hanging, wrapIndented } from "../text/hanging.ts";
import type { OpenFull, OpenView } from "./open-full.ts";
import type { Part, Screen } from "./screen.ts";
import { BACKGROUND_QUERY, parseBackground, type Rgb } from "../text/themes.ts";
import { openTty, type TtyModes } from "./tty.ts";
import { wrapsAgain } from "./wraps-again.ts";

/** From the end of the row: its column is the width that the terminal has by now. */
const CURSOR_QUESTION = "\u001b[9999C\u001b[6n\r";
/** Row 1 with a small column is F3 with Shift or the like. */
// oxlint-disable-next-line no-control-regex -- the answer of a terminal
const CURSOR_ANSWER = /\u001b\[(?!1;(?:[2-9]|1[0-6])R)(\d+);(\d+)R/;

// oxlint-disable-next-line no-control-regex -- the answer of a terminal
const BACKGROUND_ANSWER = /\u001b\]11;[^\u0007\u001b]*(?:\u0007|\u001b\\)/;
const BACKGROUND_MS = 100;
/** Milliseconds in which the frame is drawn that shows the first key. */
const ECHO_MS = 40;

/** Takes what comes from the terminal. */
export interface ScreenHandler {
  /** Handles one key, as the terminal sends it. */
  key(data: string): void;
  paste(text: string): void;
  /** Called when what was drawn is on the terminal, and keys that it had sent before were handled. */
  drawn(): void;
  /** Another program gets the terminal. */
  away(): void;
}

export interface ScreenEvents {
  /** The input has ended, or the terminal went away. */
  end(): void;
  /** Null until it is loaded, which a question may need before any key. */
  handler(): ScreenHandler | null;
  /** Before the first key is handled: loads the handler. */
  load(): Promise<unknown>;
}

/** Parts of the process that a screen needs. */
export type ScreenProcess = Pick<
  CliContext,
  "stdin" | "stdout" | "stderr" | "env" | "signals" | "suspend"
>;

/** A screen with what its owner needs besides. */
export interface OwnedScreen extends Screen {
  /** How columns are counted now. */
  text(): CellText;
  /** Printable ASCII that was typed before a handler of keys was loaded. */
  earlyText(): string;
  /** The colour of the background; null if the terminal does not say. */
  background(): Promise<Rgb | null>;
  /** Stops the program as Ctrl-Z does, and draws again when it is continued. */
  suspend(): Promise<void>;
  close(): Promise<void>;
}

/** Draws `live` on a terminal, below what the program prints meanwhile. Only one at a time. */
export function openScreen(
  cli: ScreenProcess,
  terminal: RawTerminal,
  {
    live,
    on,
    modes,
  }: { readonly live: Part; readonly on: ScreenEvents; readonly modes?: TtyModes },
): OwnedScreen {
  let text: CellText = simpleText;
  /** Has the alternate screen, and the keys. */
  let full: OpenFull<unknown> | null = null;
  let splitKeys: ((keys: string) => void) | null = null;
  /** Keys that came while what they need was loaded. */
  let early: (() => void)[] | null = null;
  /** Text that they type, up to the first key that types nothing or a paste. */
  let earlyText = "";
  let isEarlyText = true;

  const inOrder = (act: () => void, typed: string): void => {
    if (splitKeys !== null) {
      act();
      return;
    }
    const [text = ""] = isEarlyText ? (/^[ -~]*/.exec(typed) ?? []) : [];
    earlyText += text;
    isEarlyText &&= text !== "" && text.length === typed.length;
    renderer.draw();
    if (early !== null) {
      early.push(act);
    } else {
      early = [act];
      // first the frame that shows the key: what is loaded takes the processor for many frames
      setTimeout(() => void load(), ECHO_MS);
    }
  };
  const load = async (): Promise<void> => {
    const [{ createKeySplitter, parseKey }, { cellText }] = await Promise.all([
      import("../pi/keys.ts"),
      import("../pi/text.ts"),
      on.load(),
    ]);
    text = cellText;
    splitKeys = createKeySplitter((key) => {
      if (modes?.focus(key) === true) {
        return;
      }
      if (full === null) {
        on.handler()?.key(key);
      } else if (parseKey(key) === "ctrl+z") {
        void suspend();
      } else {
        full.key(key);
      }
    });
    const held = early ?? [];
    early = null;
    for (const act of held) {
      act();
    }
    renderer.draw();
  };

  const tty = openTty(
    cli,
    terminal,
    {
      keys: (keys) => inOrder(() => splitKeys?.(keys), keys),
      paste: (pasted) => inOrder(() => (full ?? on.handler())?.paste(pasted), ""),
      end: on.end,
      lost: on.end,
    },
    modes,
  );
  const renderer = new Renderer({
    terminal,
    live: (width, height) => live.rows(width, height),
    text: () => text,
    // all that has come is read between one and the next
    drawn: () => setImmediate(() => setImmediate(() => on.handler()?.drawn())),
    reflows: wrapsAgain(cli.env),
    askCursor: () =>
      tty
        .report(CURSOR_QUESTION, CURSOR_ANSWER)
        ?.then(([, row, columns]) => ({ row: Number(row), columns: Number(columns) })) ?? null,
  });
  /** The last row that was printed is empty: another one would be too much. */
  let endsEmpty = true;
  let printed = 0;
  const finish = (rows: readonly string[]): void => {
    printed += 1;
    renderer.finish(rows.filter((row, index) => row !== "" || !isAfterEmpty(rows, index)));
    endsEmpty = rows.length === 0 ? endsEmpty : rows.at(-1) === "";
  };
  const isAfterEmpty = (rows: readonly string[], index: number): boolean =>
    index === 0 ? endsEmpty : rows[index - 1] === "";
  const commit = (rows: readonly string[]): void =>
    finish(rows.flatMap((row) => wrapIndented(row, renderer.width, text)));
  const print = (printed: string): void => {
    const rows = printed.replace(/\n$/, "").split("\n");
    finish(rows.flatMap((row) => hanging(row, renderer.width, text)));
  };
  const outputs = [cli.stdout, cli.stderr];
  for (const output of outputs) {
    output.cover(print);
  }
  const comeBack = (): void => {
    tty.enter();
    renderer.enter();
    if (full !== null) {
      renderer.pause();
      full.enter();
    }
  };
  /** Another program has the terminal, or the shell, until this resolves. */
  let away: Promise<void> | null = null;
  let isClosed = false;
  let isStopped = false;
  const outside = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const { promise, resolve: back } = Promise.withResolvers<void>();
    away = promise;
    on.handler()?.away();
    full?.leave();
    renderer.leave();
    await tty.settled();
    await tty.leave();
    // an interrupt is for the other program, which has the terminal
    const ignoreInterrupts = onSignals(cli, () => undefined, ["SIGINT"]);
    try {
      return await work();
    } finally {
      ignoreInterrupts();
      away = null;
      back();
      if (!isClosed) {
        comeBack();
      }
    }
  };
  const showFull = async <Result>(open: OpenView<Result>): Promise<Result> => {
    const { openFull } = await import("./open-full.ts");
    renderer.pause();
    // the keys of the alternate screen are separate: what the terminal is asked now is about this one
    await tty.settled();
    const opened = openFull(terminal, { open, restore: tty.restore });
    full = opened;
    try {
      return await opened.result;
    } finally {
      full = null;
      opened.close();
      renderer.enter();
    }
  };
  /** The full view that was asked for last, once it is left. */
  let lastFull: Promise<unknown> = Promise.resolve();
  void tty.askForAllKeys();
  /** Once at a time; while another program has the terminal, it keeps it. */
  const suspend = async (): Promise<void> => {
    if (!isStopped) {
      isStopped = true;
      await (away === null ? outside(cli.suspend) : cli.suspend());
      isStopped = false;
    }
  };
  const onStop = (): void => void suspend();
  cli.signals.on("SIGTSTP", onStop);

  return {
    get width() {
      return renderer.width;
    },
    get height() {
      return renderer.height;
    },
    text: () => text,
    earlyText: () => earlyText,
    background: async () => {
      const answer = await tty.ask(BACKGROUND_QUERY, BACKGROUND_ANSWER, BACKGROUND_MS);
      return answer === null ? null : parseBackground(answer[0]);
    },
    commit,
    printed: () => printed,
    changed: () => renderer.draw(),
    outside,
    suspend,
    full: (open) => {
      // a key that opens one may come twice
      const shown = lastFull.then(() => showFull(open));
      lastFull = shown.catch(() => undefined);
      return shown;
    },
    close: async () => {
      isClosed = true;
      await away;
      cli.signals.off("SIGTSTP", onStop);
      full?.close();
      renderer.leave();
      for (const output of outputs) {
        output.cover(null);
      }
      await tty.settled();
      // the answers may call for rows to be printed again
      await new Promise(setImmediate);
      renderer.close();
      await tty.close();
    },
  };
}
