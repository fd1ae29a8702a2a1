import type { CliContext } from "../context.ts";
import type { RawTerminal } from "../output.ts";
import { type CellText, simpleText } from "./cell-text.ts";
import { createRenderer } from "./renderer.ts";
import type { FullView, Part, Screen } from "./screen.ts";
import { openTty } from "./tty.ts";

const FRAME_MS = 33;
/** The alternate screen, without automatic wrapping. */
const ENTER_ALTERNATE = "\u001b[?1049h\u001b[?7l";
const LEAVE_ALTERNATE = "\u001b[?7h\u001b[?1049l";
const CURSOR_QUESTION = "\u001b[6n";
// oxlint-disable-next-line no-control-regex -- the answer of a terminal
const CURSOR_ANSWER = /\u001b\[(\d+);\d+R/;

export interface ScreenEvents {
  /** One key, as the terminal sends it. */
  key(data: string): void;
  paste(text: string): void;
  /** The input has ended, or the terminal went away. */
  end(): void;
  /** What was drawn is on the terminal now. */
  drawn(): void;
  /** Before the first key is handled: loads what the keys need. */
  load(): Promise<void>;
}

/** What a screen needs of the process. */
export type ScreenProcess = Pick<
  CliContext,
  "stdin" | "stdout" | "stderr" | "env" | "signals" | "suspend"
>;

/** A screen with what its owner needs besides. */
export interface OwnedScreen extends Screen {
  /** Stops the program as Ctrl-Z does, and draws again when it is continued. */
  suspend(): Promise<void>;
  close(): Promise<void>;
}

/** Draws `live` on a terminal, below what the program prints meanwhile. Only one at a time. */
export function openScreen(
  cli: ScreenProcess,
  terminal: RawTerminal,
  { live, on }: { readonly live: Part; readonly on: ScreenEvents },
): OwnedScreen {
  let text: CellText = simpleText;
  let view: FullView | null = null;
  let splitKeys: ((keys: string) => void) | null = null;
  /** Keys that came while what they need was loaded. */
  let early: (() => void)[] | null = null;

  const inOrder = (act: () => void): void => {
    if (splitKeys !== null) {
      act();
    } else if (early !== null) {
      early.push(act);
    } else {
      early = [act];
      void load();
    }
  };
  const onKey = (key: string): void => {
    if (view === null) {
      on.key(key);
    } else {
      view.key(key);
    }
  };
  const load = async (): Promise<void> => {
    const [{ createKeySplitter }, { cellText }] = await Promise.all([
      import("./pi/keys.ts"),
      import("./pi/text.ts"),
      on.load(),
    ]);
    text = cellText;
    splitKeys = createKeySplitter(onKey);
    // first: a key may give the terminal to another program
    void renderer.locate();
    const held = early ?? [];
    early = null;
    for (const act of held) {
      act();
    }
    renderer.draw();
  };

  const tty = openTty(cli, terminal, {
    keys: (keys) => inOrder(() => splitKeys?.(keys)),
    paste: (pasted) => inOrder(() => (view === null ? on.paste(pasted) : view.paste?.(pasted))),
    end: on.end,
    lost: on.end,
  });
  const renderer = createRenderer({
    terminal,
    live: (width, height) => live.rows(width, height),
    text: () => text,
    drawn: on.drawn,
    reflows: wrapsAgain(cli.env),
    askCursor: async (ms) => {
      const [, row] = (await tty.ask(CURSOR_QUESTION, CURSOR_ANSWER, ms)) ?? [];
      return row === undefined ? null : { row: Number(row) };
    },
  });
  const commit = (rows: readonly string[]): void =>
    renderer.finish(rows.flatMap((row) => text.wrap(row, renderer.width)));
  const outputs = [cli.stdout, cli.stderr];
  for (const output of outputs) {
    output.cover((printed) => commit(printed.replace(/\n$/, "").split("\n")));
  }
  const outside = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    renderer.leave();
    await tty.settled();
    tty.leave();
    try {
      return await work();
    } finally {
      tty.enter();
      renderer.enter();
    }
  };
  const suspend = (): Promise<void> => outside(cli.suspend);
  const onStop = (): void => void suspend();
  cli.signals.on("SIGTSTP", onStop);
  renderer.draw();

  return {
    get width() {
      return renderer.width;
    },
    get height() {
      return renderer.height;
    },
    commit,
    changed: renderer.draw,
    outside,
    suspend,
    full: async (open) => {
      const { createFullDrawing } = await import("./full-drawing.ts");
      const drawing = createFullDrawing(terminal.draw);
      let timer: NodeJS.Timeout | undefined;
      const draw = (): void => {
        timer = undefined;
        const { columns: width, rows: height } = terminal.size();
        drawing.draw(view?.rows(width, height) ?? [], { width, height });
      };
      const changed = (): void => {
        timer ??= setTimeout(draw, FRAME_MS);
      };
      const ignoreSizes = terminal.onResize(changed);
      renderer.pause();
      terminal.draw(ENTER_ALTERNATE);
      try {
        return await new Promise((done) => {
          view = open({ changed, done });
          draw();
        });
      } finally {
        view = null;
        clearTimeout(timer);
        ignoreSizes();
        terminal.draw(LEAVE_ALTERNATE);
        renderer.enter();
      }
    },
    close: async () => {
      cli.signals.off("SIGTSTP", onStop);
      renderer.leave();
      for (const output of outputs) {
        output.cover(null);
      }
      renderer.close();
      await tty.settled();
      await tty.close();
    },
  };
}

/** The terminals that are known to leave their rows as they are when their width changes. */
function wrapsAgain(env: CliContext["env"]): boolean {
  return env["XTERM_VERSION"] === undefined && !/^(?:linux|screen|st)\b/.test(env["TERM"] ?? "");
}
