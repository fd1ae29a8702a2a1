import type { RawTerminal } from "../raw-terminal.ts";
import { type CellText, plainRow } from "./cell-text.ts";

/** Milliseconds between two frames. */
const FRAME_MS = 33;
/** Milliseconds to wait for the terminal to say where its cursor is. */
const CURSOR_REPORT_MS = 100;

/** Characters of finished rows that are kept for a terminal that does not take them. */
const MAX_FINISHED = 8 * 1024 * 1024;

/** The terminal shows all that is between them at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
const WRAP = "\u001b[?7h";
const NO_WRAP = "\u001b[?7l";

export interface RendererOptions {
  readonly terminal: RawTerminal;
  /** What is drawn below what is finished: at least one row. */
  readonly live: (width: number, height: number) => readonly string[];
  readonly text: () => CellText;
  /** Called when the terminal has a frame. */
  readonly drawn: () => void;
  /** Whether the terminal wraps its rows again when its width changes, as far as that is known. */
  readonly reflows: boolean;
  /** Asks where the cursor is, and how wide the terminal is; null if the terminal does not say. */
  readonly askCursor: (ms: number) => Promise<Reported | null>;
}

/**
 * Draws on the main screen of a terminal. Finished rows are printed once, and scroll into the terminal's own history;
 * only the live rows below them are drawn again, those that changed, at most 30 times a second.
 *
 * Between two frames the cursor is in an empty row below the live rows. Live rows are cut to the width. A row that gets
 * longer is written with all below it and may wrap: the terminal may be narrower than it was a moment ago, and then it
 * takes as many of its rows as one that was drawn before that and was wrapped again. So what is erased never reaches a
 * finished row. Other changes are made in place, without automatic wrapping.
 * Finished rows may wrap, too: nothing of them may be lost.
 */
export function createRenderer(options: RendererOptions) {
  const { terminal, live, text, askCursor } = options;
  let finished: string[] = [];
  /** Characters of them, and how many rows before them nobody will see. */
  let [finishedSize, lost] = [0, 0];
  /** The live rows as they are drawn; empty before the first frame and after `leave`. */
  let drawn: readonly string[] = [];
  let { columns: width, rows: height } = terminal.size();
  let timer: NodeJS.Timeout | undefined;
  let lastFrame = 0;
  let state: "drawing" | "resizing" | "paused" | "left" = "drawing";

  const liveRows = (): readonly string[] => {
    const room = Math.max(1, height - 2);
    const rows = live(width, room).slice(-room);
    // terminals differ in whether they wrap the row of the cursor again: that one is empty
    return [...rows.map((row) => plainRow(text().cut(row, width))), ""];
  };

  const isResized = (): boolean => {
    const { columns, rows } = terminal.size();
    return columns !== width || rows !== height;
  };
  /** A frame, unless the terminal has not taken the one before: then it comes later, with all that changed meanwhile. */
  const frameIfTaken = (): void => {
    const busy = terminal.drained();
    if (busy === null) {
      frame();
    } else {
      // the timer stays set: nothing else asks for a frame meanwhile
      void busy.then(frameIfTaken);
    }
  };
  const frame = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (state !== "drawing") {
      return;
    }
    if (drawn.length > 0 && isResized()) {
      void onResize();
      return;
    }
    lastFrame = performance.now();
    const rows = liveRows();
    let out = "";
    if (finished.length > 0) {
      out += toFirstRow(drawn.length);
      out += lost === 0 ? "" : `${lostRows(lost)}\r\n`;
      out += finished.map((row) => `${plainRow(row)}\r\n`).join("");
      [finished, finishedSize, lost] = [[], 0, 0];
      drawn = [];
    }
    const changed = changes(rows);
    out += changed;
    drawn = rows;
    if (out !== "") {
      terminal.draw(`${BEGIN}${out}${END}`);
    }
    void (terminal.drained() ?? Promise.resolve()).then(options.drawn);
  };
  /** From the old live rows to the new ones; the cursor ends in the empty row. */
  const changes = (rows: readonly string[]): string => {
    let out = "";
    let at = Math.max(0, drawn.length - 1);
    const goTo = (row: number): void => {
      out += row < at ? `\u001b[${at - row}A` : "\r\n".repeat(row - at);
      at = row;
    };
    const isLonger = (row: string, index: number): boolean =>
      row !== drawn[index] && text().width(row) > text().width(drawn[index] ?? "");
    const grown = rows.findIndex((row, index) => index >= drawn.length || isLonger(row, index));
    const inPlace = grown === -1 ? rows : rows.slice(0, grown);
    for (const [index, row] of inPlace.entries()) {
      const old = drawn[index];
      if (row !== old) {
        goTo(index);
        out += `${NO_WRAP}${rowChange(old ?? "", row, text())}${WRAP}`;
      }
    }
    if (grown !== -1) {
      goTo(grown);
      const longer = rows.slice(grown).map((row) => (mayWrap(row) ? row : NO_WRAP + row + WRAP));
      return `${out}\r\u001b[J${longer.join("\r\n")}`;
    }
    if (rows.length < drawn.length) {
      goTo(rows.length);
      out += "\r\u001b[J";
    }
    if (at !== rows.length - 1) {
      goTo(rows.length - 1);
    }
    return out;
  };
  /** Whether a row is in one row of this width for every terminal, whatever it takes for the width of a character. */
  const mayWrap = (row: string): boolean =>
    text().width(row) + (row.match(AMBIGUOUS)?.length ?? 0) <= width;
  /** Half of the finished rows, because the terminal takes none, or fewer than come. */
  const dropOldest = (): void => {
    let [count, size] = [0, 0];
    for (; count < finished.length && size < finishedSize - MAX_FINISHED / 2; count += 1) {
      size += (finished[count]?.length ?? 0) + 1;
    }
    finished = finished.slice(count);
    finishedSize -= size;
    lost += count;
  };
  const draw = (): void => {
    timer ??= setTimeout(frameIfTaken, Math.max(0, lastFrame + FRAME_MS - performance.now()));
  };
  /** Rows of the terminal above the cursor's that the live rows take at a new width. */
  const rowsAbove = (columns: number): number => {
    const rows = drawn.map((row) =>
      options.reflows && mayWrap(row) ? Math.ceil(text().width(row) / columns) || 1 : 1,
    );
    return rows.reduce((sum, count) => sum + count, 0) - 1;
  };

  const onResize = async (): Promise<void> => {
    if (state !== "drawing" || !isResized()) {
      return;
    }
    state = "resizing";
    let asked = terminal.size();
    let reported = await askCursor(CURSOR_REPORT_MS);
    for (let now = terminal.size(); !isSame(now, asked); now = terminal.size()) {
      asked = now;
      reported = await askCursor(CURSOR_REPORT_MS);
    }
    if (state !== "resizing") {
      return;
    }
    drawResized(asked, reported);
  };
  const drawResized = ({ columns, rows }: Size, reported: Reported | null): void => {
    // it may be wider again than the process knows
    const above = rowsAbove(Math.max(columns, reported?.columns ?? 0));
    [width, height] = [columns, rows];
    // rows that were scrolled out of the window belong to its history now
    const up = Math.min(above, (reported?.row ?? rows) - 1);
    terminal.draw(`${BEGIN}\r${up > 0 ? `\u001b[${up}A` : ""}\u001b[J${END}`);
    drawn = [];
    state = "drawing";
    frame();
  };
  const stopListening = terminal.onResize(() => void onResize());

  return {
    /** Prints rows above the live rows, with the next frame. */
    finish: (rows: readonly string[]): void => {
      for (const row of rows) {
        finished.push(row);
        finishedSize += row.length + 1;
      }
      if (finishedSize > MAX_FINISHED) {
        dropOldest();
      }
      draw();
    },
    /** Draws the live rows again, with the next frame. */
    draw,
    /** Removes the live rows; the cursor is where they began. Nothing is drawn until `enter`. */
    leave: (): void => {
      if (state === "left") {
        return;
      }
      if (state === "resizing" || isResized()) {
        // nobody waits for the terminal's answer: finished rows must not be lost
        drawResized(terminal.size(), null);
      }
      state = "drawing";
      frame();
      clearTimeout(timer);
      timer = undefined;
      if (drawn.length > 0) {
        terminal.draw(`${BEGIN}${toFirstRow(drawn.length)}${END}`);
      }
      drawn = [];
      state = "left";
    },
    /** Nothing is drawn, and the live rows stay, until `enter`. */
    pause: (): void => {
      frame();
      state = "paused";
    },
    /** Draws at the cursor, which is in an empty row; or, after `pause`, what has changed. */
    enter: (): void => {
      state = "drawing";
      if (drawn.length === 0) {
        ({ columns: width, rows: height } = terminal.size());
      }
      frame();
    },
    get width(): number {
      return width;
    },
    get height(): number {
      return height;
    },
    close: (): void => {
      stopListening();
      clearTimeout(timer);
      state = "left";
    },
  };
}

function lostRows(count: number): string {
  return `… ${count} ${count === 1 ? "row is" : "rows are"} missing here: the terminal did not take them in time`;
}

/** To the beginning of the first live row, with everything below erased. */
function toFirstRow(rows: number): string {
  return rows === 0 ? "" : `\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}\u001b[J`;
}

/** Characters that some terminals show wider than others. */
const AMBIGUOUS =
  // oxlint-disable-next-line no-control-regex -- ASCII has controls
  /[^\u0000-\u007f\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Characters that are one column wide everywhere. */
const PLAIN = /^[\u0020-\u007e]*/;

/** Writes what differs of a row. */
function rowChange(old: string, row: string, text: CellText): string {
  let same = 0;
  while (same < row.length && row[same] === old[same]) {
    same += 1;
  }
  const kept = Math.min(same, PLAIN.exec(row)?.[0].length ?? 0);
  const start = kept === 0 ? "\r" : `\u001b[${kept + 1}G`;
  const isShorter = text.width(row) < text.width(old);
  return `${start}${row.slice(kept)}${isShorter ? "\u001b[K" : ""}`;
}

interface Reported {
  readonly row: number;
  readonly columns: number;
}

interface Size {
  readonly columns: number;
  readonly rows: number;
}

function isSame(one: Size, other: Size): boolean {
  return one.columns === other.columns && one.rows === other.rows;
}
