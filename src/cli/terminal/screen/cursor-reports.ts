/** Where a terminal says that its cursor is, and how wide it is itself. */
export interface CursorReport {
  /** From 1, in the window. */
  readonly row: number;
  readonly columns: number;
}

/** Questions at most that a terminal has not answered, and before its first answer: it may never give one. */
const MAX_ASKED = 256;
const MAX_ASKED_FIRST = 16;

/** Milliseconds to wait for the terminal's answer, and if it has never given one. */
const REPORT_MS = 3000;
const FIRST_REPORT_MS = 100;

/** Live rows that were drawn, or what had changed of them. */
export interface Drawn {
  /** True if all of them were drawn. */
  readonly all: boolean;
  readonly count: number;
  /** The width that they were drawn for. */
  readonly columns: number;
  /** How many rows more than their number those before them take once they are wrapped at so many columns. */
  readonly wrapped: (columns: number) => number;
}

/**
 * Knowledge about the live rows. `whole`: the terminal has them as they were drawn, or has wrapped them again since.
 * `counted`: it read them when it was narrower; at this width, and no other one, they take so many rows more than
 * their number, whatever is in them.
 */
type LiveRows =
  | { readonly kind: "unknown" }
  | { readonly kind: "whole" }
  | { readonly kind: "counted"; readonly columns: number; readonly more: number };

const UNKNOWN: LiveRows = { kind: "unknown" };

/**
 * The width of a terminal as it reports it. It reads what is drawn, and changes its size, in an order that nobody but
 * itself knows: but its answers come in the order of the questions, so what was drawn between two that say the same
 * width was read at that width.
 */
export class CursorReports {
  readonly #askCursor: () => Promise<CursorReport> | null;
  readonly #onFirst: () => void;
  #columns: number;
  #waiting = 0;
  #hasAnswered = false;
  /** Counts what may be read at any width, because the terminal could not be asked. */
  #gaps = 0;
  #live: LiveRows = UNKNOWN;
  /** All live rows were drawn, and it will be known whether the terminal has them. */
  #isExpected = false;

  /** `columns` is the width that it is taken to have before its first report, after which `onFirst` is called. */
  constructor(options: {
    readonly askCursor: () => Promise<CursorReport> | null;
    readonly columns: number;
    readonly onFirst: () => void;
  }) {
    this.#askCursor = options.askCursor;
    this.#columns = options.columns;
    this.#onFirst = options.onFirst;
  }

  /** The width by the last report. */
  get columns(): number {
    return this.#columns;
  }

  /** True if only drawing all live rows makes it known again what the terminal has. */
  get needsAll(): boolean {
    return this.#hasAnswered && this.#live.kind === "unknown" && !this.#isExpected;
  }

  /** How many rows more than their number the live rows take for certain at this width. */
  more(columns: number, wrapped: Drawn["wrapped"]): number {
    const live = this.#waiting > 0 ? UNKNOWN : this.#live;
    switch (live.kind) {
      case "unknown":
        return 0;
      case "whole":
        return wrapped(columns);
      case "counted":
        return live.columns === columns ? live.more : 0;
    }
  }

  /** True if they take that many at any other width too, wrapped again. */
  get isWhole(): boolean {
    return this.#live.kind === "whole";
  }

  /** Begins again after somebody else has drawn, once all questions are answered. */
  reset(columns: number): void {
    this.#columns = columns;
    this.#live = UNKNOWN;
  }

  /** Calls `then` with the answer and the width that the answer before it had; null if it cannot be asked now. */
  ask(then?: (report: CursorReport, before: number) => void): Promise<CursorReport> | null {
    const max = this.#hasAnswered ? MAX_ASKED : MAX_ASKED_FIRST;
    const asked = this.#waiting < max ? this.#askCursor() : null;
    if (asked === null) {
      this.#gaps += 1;
      this.#live = UNKNOWN;
      return null;
    }
    this.#waiting += 1;
    return asked.then((report) => {
      this.#waiting -= 1;
      if (!this.#hasAnswered) {
        this.#hasAnswered = true;
        this.#onFirst();
      }
      const before = this.#columns;
      this.#columns = report.columns;
      if (this.#live.kind === "counted" && this.#live.columns !== report.columns) {
        this.#live = UNKNOWN;
      }
      then?.(report, before);
      return report;
    });
  }

  /** Asks what the terminal reports now; null if it does not, or not in time. */
  async now(): Promise<CursorReport | null> {
    const asked = this.ask();
    if (asked === null) {
      // the caller waits until the size stays the same
      await new Promise((resolve) => setTimeout(resolve, FIRST_REPORT_MS));
      return null;
    }
    return this.#inTime(asked);
  }

  /** Draws the parts; resolves with the width at which all of them were read, or Infinity if it changed meanwhile. */
  async around(parts: readonly string[], draw: (part: string) => void): Promise<number> {
    const asked = parts.map((part) => {
      draw(part);
      return this.ask();
    });
    const reports = await Promise.all(asked.map((one) => this.#inTime(one)));
    const [first = Infinity, ...others] = reports.map((one) => one?.columns ?? Infinity);
    return others.every((columns) => columns === first) ? first : Infinity;
  }

  /** The answer, or null if it is not there in time. */
  #inTime(asked: Promise<CursorReport> | null): Promise<CursorReport | null> {
    const ms = this.#hasAnswered ? REPORT_MS : FIRST_REPORT_MS;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), ms);
      void asked?.then((report) => {
        clearTimeout(timer);
        resolve(report);
      });
    });
  }

  /** Asks after live rows were drawn. */
  askDrawn(drawn: Drawn): void {
    const gaps = this.#gaps;
    const asked = this.ask((report, before) => {
      const isSteady = report.columns === before && report.row >= drawn.count;
      this.#live =
        isSteady && gaps === this.#gaps ? readAt(report.columns, drawn, this.#live) : UNKNOWN;
      this.#isExpected &&= !drawn.all;
    });
    this.#isExpected ||= drawn.all && asked !== null;
  }
}

/** Returns what is known after the terminal has read what was drawn, all of it at this width. */
function readAt(columns: number, { all, wrapped, ...drawn }: Drawn, before: LiveRows): LiveRows {
  const fits = columns >= drawn.columns;
  if (all) {
    // a row that does not fit was cut
    return fits ? { kind: "whole" } : { kind: "counted", columns, more: 0 };
  }
  // without automatic wrapping, what is changed in place moves no row
  return before.kind === "whole" && !fits
    ? { kind: "counted", columns, more: wrapped(columns) }
    : before;
}
