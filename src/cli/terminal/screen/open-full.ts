import type { RawTerminal } from "../../process/raw-terminal.ts";
import { createFullDrawing } from "./full-drawing.ts";
import type { FullView } from "./screen.ts";

/** Milliseconds between two drawings: 30 in a second. */
const FRAME_MS = 33;

/** The alternate screen, without automatic wrapping. */
const ALTERNATE = "\u001b[?1049h\u001b[?7l";
const MAIN = "\u001b[?7h\u001b[?1049l";

/** A view that has the whole terminal. */
export interface OpenFull<Result> {
  readonly view: FullView;
  /** Resolves when the view is done; an error of the view rejects. */
  readonly result: Promise<Result>;
  /** Handles one key, as the terminal sends it. */
  key(data: string): void;
  paste(text: string): void;
  /** Gives the main screen back, until `enter`. */
  leave(): void;
  enter(): void;
  close(): void;
}

/** Makes a view that says when it changed, and what its result is. */
export type OpenView<Result> = (on: { changed(): void; done(result: Result): void }) => FullView;

/** Shows a view on the alternate screen of a terminal whose keys somebody else reads. */
export function openFull<Result>(
  terminal: RawTerminal,
  {
    open,
    restore,
  }: {
    readonly open: OpenView<Result>;
    /** Returns what else gives the terminal back, whatever ends the program. */
    readonly restore: () => string;
  },
): OpenFull<Result> {
  const { promise: result, resolve, reject } = Promise.withResolvers<Result>();
  const drawing = createFullDrawing(terminal.draw);
  let isShown = false;
  let timer: NodeJS.Timeout | undefined;
  let drawnAt = 0;

  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      reject(error);
    }
  };
  const draw = (): void => {
    const busy = terminal.drained();
    if (busy !== null) {
      void busy.then(draw);
      return;
    }
    timer = undefined;
    if (!isShown) {
      return;
    }
    drawnAt = performance.now();
    const { columns: width, rows: height } = terminal.size();
    guarded(() => drawing.draw(view.rows(width, height), { width, height }));
  };
  const changed = (): void => {
    if (isShown) {
      timer ??= setTimeout(draw, Math.max(0, drawnAt + FRAME_MS - performance.now()));
    }
  };
  const leave = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (isShown) {
      isShown = false;
      terminal.draw(MAIN);
      terminal.restoreWith(restore());
    }
  };
  const enter = (): void => {
    isShown = true;
    terminal.draw(ALTERNATE);
    terminal.restoreWith(`${MAIN}${restore()}`);
    drawing.forget();
    changed();
  };
  const view = open({ changed, done: resolve });
  const ignoreSizes = terminal.onResize(changed);
  enter();
  const act = (work: () => void): void => {
    if (isShown) {
      guarded(work);
      changed();
    }
  };
  return {
    view,
    result,
    key: (data) => act(() => view.key(data)),
    paste: (text) => act(() => view.paste?.(text)),
    leave,
    enter,
    close: () => {
      ignoreSizes();
      leave();
    },
  };
}
