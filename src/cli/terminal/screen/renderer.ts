import { isSameSize, type RawTerminal, type TerminalSize } from "../../process/raw-terminal.ts";
import { type CellText, plainRow } from "../pi/cell-text.ts";
import { type CursorReport, CursorReports } from "./cursor-reports.ts";
import { Drawing } from "./drawing.ts";
import { FinishedRows, lastRows, linesOf, type PrintedPart } from "./finished-rows.ts";
import { leastRows, liveChange, toFirstRow } from "./live-change.ts";

/** Milliseconds between two frames. */
const FRAME_MS = 33;
/** Milliseconds at most until the terminal reports the width that the process knows. */
const AGREE_MS = 300;

export interface RendererOptions {
  readonly terminal: RawTerminal;
  /** Draws what is below the finished rows: at least one row. */
  readonly live: (width: number, height: number) => readonly string[];
  readonly text: () => CellText;
  /** Called when the terminal has a frame. */
  readonly drawn: () => void;
  /** Whether the terminal wraps its rows again when its width changes: only if that is certain. */
  readonly reflows: boolean;
  /** Asks where the cursor is, from the right edge; null if the terminal does not say. */
  readonly askCursor: () => Promise<CursorReport> | null;
}

/**
 * Draws on the main screen of a terminal. Finished rows are printed once, and scroll into the terminal's own history;
 * only the live rows below them are drawn again, those that changed, at most 30 times a second.
 *
 * Between two frames the cursor is in an empty row below the live rows. Each of these takes one row of the terminal or,
 * wrapped again, more: so going up by their number never reaches a finished row, whatever size the terminal has by now.
 * docs/terminal.md says when more than that is erased, and when finished rows are printed again.
 */
export class Renderer {
  readonly #options: RendererOptions;
  readonly #terminal: RawTerminal;
  readonly #drawing: Drawing;
  readonly #finished = new FinishedRows();
  readonly #reports: CursorReports;
  readonly #stopListening: () => void;
  /** The live rows as they are drawn; empty before the first frame and after `leave`. */
  #drawn: readonly string[] = [];
  /** Sizes: the one that is drawn for, the narrower of what the process knows and what the terminal reported; and both of these. */
  #size: TerminalSize;
  #known: { readonly size: TerminalSize; readonly reported: number };
  #timer: NodeJS.Timeout | undefined;
  #lastFrame = 0;
  #state: "drawing" | "resizing" | "paused" | "left" = "drawing";

  constructor(options: RendererOptions) {
    this.#options = options;
    this.#terminal = options.terminal;
    this.#drawing = new Drawing(this.#terminal);
    const size = this.#terminal.size();
    this.#size = size;
    this.#known = { size, reported: size.columns };
    this.#reports = new CursorReports({
      askCursor: options.askCursor,
      columns: size.columns,
      onFirst: () => this.draw(),
    });
    this.#stopListening = this.#terminal.onResize(() => void this.#resize());
  }

  get width(): number {
    return this.#size.columns;
  }

  get height(): number {
    return this.#size.rows;
  }

  /** Prints rows above the live rows, with the next frame. */
  finish(rows: readonly string[]): void {
    this.#finished.add(rows);
    this.draw();
  }

  /** Draws the live rows again, with the next frame. */
  draw(): void {
    this.#timer ??= setTimeout(
      () => this.#frameIfTaken(),
      Math.max(0, this.#lastFrame + FRAME_MS - performance.now()),
    );
  }

  /** Removes the live rows; the cursor is where they began. Nothing is drawn until `enter`. */
  leave(): void {
    if (this.#state === "left") {
      return;
    }
    if (this.#state === "resizing" || this.#isResized()) {
      // the terminal's answers are not waited for
      this.#drawing.write(toFirstRow(this.#drawn.length));
      this.#drawn = [];
      this.#accept(this.#terminal.size(), null);
    }
    this.#state = "drawing";
    this.#frame();
    this.#stopTimer();
    this.#drawing.write(toFirstRow(this.#drawn.length));
    this.#drawing.show();
    this.#drawn = [];
    this.#finished.forget();
    this.#state = "left";
  }

  /** Nothing is drawn, and the live rows stay, until `enter`. */
  pause(): void {
    this.#frame();
    this.#state = "paused";
  }

  /** Draws at the cursor, which is in an empty row; or, after `pause`, what has changed. */
  enter(): void {
    this.#state = "drawing";
    if (this.#drawn.length === 0) {
      const size = this.#terminal.size();
      this.#reports.reset(size.columns);
      this.#accept(size, null);
    }
    this.#frame();
  }

  /** After `leave` and all answers: prints what the terminal turned out not to have whole. */
  close(): void {
    this.#stopListening();
    this.#stopTimer();
    this.#state = "left";
    for (const { rows } of this.#finished.take()) {
      this.#drawing.write(linesOf(rows));
    }
    this.#drawing.show();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #liveRows(): readonly string[] {
    const { columns, rows: height } = this.#size;
    const room = Math.max(1, height - 2);
    const rows = this.#options.live(columns, room).slice(-room);
    // terminals differ in whether they wrap spaces at the end again
    const cut = rows.map((row) => plainRow(this.#options.text().cut(row, columns)).trimEnd());
    // and in whether they wrap the row of the cursor again: that one is empty
    return [...cut, ""];
  }

  /** A frame, unless the terminal has not taken the one before: then it comes later, with all that changed meanwhile. */
  #frameIfTaken(): void {
    const busy = this.#terminal.drained();
    if (busy === null) {
      this.#frame();
    } else {
      // the timer stays set: nothing else asks for a frame meanwhile
      void busy.then(() => this.#frameIfTaken());
    }
  }

  #frame(): void {
    this.#stopTimer();
    if (this.#state !== "drawing") {
      return;
    }
    if (this.#drawn.length > 0 && this.#isResized()) {
      void this.#resize();
      return;
    }
    this.#lastFrame = performance.now();
    if (!this.#finished.isEmpty) {
      this.#print();
    }
    this.#drawLive();
    this.#drawing.show();
    void (this.#terminal.drained() ?? Promise.resolve()).then(this.#options.drawn);
  }

  /** Prints what is finished instead of the live rows, and has the terminal say how wide it was before and after each part. */
  #print(): void {
    if (this.#drawn.length > 0) {
      void this.#reports.ask();
    }
    this.#drawing.write(toFirstRow(this.#drawn.length));
    this.#drawn = [];
    for (const part of this.#finished.take()) {
      this.#drawing.write(linesOf(part.rows));
      this.#expect(part);
    }
  }

  /** A terminal whose width changes while it reads a row may cut it: then the part is printed again. */
  #expect(part: PrintedPart): void {
    const asked = this.#reports.ask((report, before) => {
      this.#finished.confirm(part, report.columns === before);
      if (!this.#finished.isEmpty) {
        this.draw();
      }
    });
    if (asked !== null) {
      this.#finished.expect(part);
    }
  }

  #drawLive(): void {
    const [before, rows] = [this.#drawn, this.#liveRows()];
    const all = before.length === 0 || this.#reports.needsAll;
    const change =
      (all ? toFirstRow(before.length) : "") +
      liveChange(all ? [] : before, rows, this.#options.text());
    this.#drawn = rows;
    if (change !== "") {
      if (before.length > 0) {
        void this.#reports.ask();
      }
      this.#drawing.write(change);
      const drawn = { all, count: rows.length, columns: this.#size.columns };
      this.#reports.askDrawn({ ...drawn, wrapped: (columns) => this.#wrapped(before, columns) });
    }
  }

  /** How many rows more than their number the rows take once they are wrapped at so many columns. */
  #wrapped(rows: readonly string[], columns: number): number {
    return leastRows(rows, columns, this.#options.text()) - rows.length;
  }

  #isResized(): boolean {
    const isSame = isSameSize(this.#terminal.size(), this.#known.size);
    return !isSame || this.#reports.columns !== this.#known.reported;
  }

  #accept(size: TerminalSize, report: CursorReport | null): void {
    this.#size = { ...size, columns: Math.min(size.columns, report?.columns ?? Infinity) };
    this.#known = { size, reported: this.#reports.columns };
  }

  /** Nothing is printed until the terminal and the process agree about the width, or for a while. */
  async #resize(): Promise<void> {
    if (this.#state !== "drawing" || !this.#isResized()) {
      return;
    }
    this.#state = "resizing";
    const begin = performance.now();
    for (;;) {
      const size = this.#terminal.size();
      const report = await this.#reports.now();
      if (this.#state !== "resizing") {
        return;
      }
      const isStill = isSameSize(size, this.#terminal.size());
      const agrees = report === null || report.columns === size.columns;
      if (isStill && (agrees || performance.now() - begin >= AGREE_MS)) {
        await this.#drawResized(size, report);
        return;
      }
      if (isStill) {
        await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
      }
    }
  }

  async #drawResized(size: TerminalSize, report: CursorReport | null): Promise<void> {
    const erased = this.#erase(report);
    this.#accept(size, report);
    this.#drawn = [];
    this.#drawLive();
    this.#drawing.show();
    // finished rows come below what was erased and is printed again
    this.#finished.again(await erased);
    if (this.#state === "resizing") {
      this.#state = "drawing";
      this.#frame();
    }
  }

  /** Erases the live rows; resolves with the finished rows that this may have erased too. */
  async #erase(report: CursorReport | null): Promise<readonly string[]> {
    const rows = this.#drawn;
    const certain = rows.length - 1;
    const wrapped = (columns: number): number => this.#wrapped(rows, columns);
    const more =
      report !== null && this.#options.reflows ? this.#reports.more(report.columns, wrapped) : 0;
    const [isWhole, printed] = [this.#reports.isWhole, this.#finished.printed];
    // rows that were scrolled out of the window belong to its history now
    const up = Math.min(certain + Math.min(more, printed.length), (report?.row ?? Infinity) - 1);
    if (up <= certain) {
      this.#drawing.write(toFirstRow(rows.length));
      return [];
    }
    const parts = ["\r", `\u001b[${up}A`, "\u001b[J"];
    const columns = await this.#reports.around(parts, (part) => this.#drawing.write(part));
    if (columns === report?.columns) {
      return [];
    }
    const widest = isWhole ? columns : Infinity;
    return lastRows(printed, up - certain - wrapped(widest), widest, this.#options.text());
  }
}
