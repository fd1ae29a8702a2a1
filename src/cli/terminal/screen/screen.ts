/** Rows of a terminal that are drawn again when they change, below what is finished. */
export interface Part {
  /** Rows of at most `width` columns. Text from outside is cleaned before it is styled. */
  rows(width: number, height: number): readonly string[];
}

/** A part that has the whole terminal: the picker, the pager. */
export interface FullView extends Part {
  /** Handles one key, as the terminal sends it: `\u001b[A`, `a`, `\u0003`; or pasted text. */
  key(data: string): void;
  paste?(text: string): void;
}

/**
 * The terminal of a conversation. What is finished goes into the terminal's own scrollback once and is never touched
 * again; below it the live rows are drawn again when they change.
 */
export interface Screen {
  readonly width: number;
  readonly height: number;
  /** Prints finished rows above the live rows. Rows that are too wide are wrapped at words. */
  commit(rows: readonly string[]): void;
  /** How often finished rows were printed, by whomever. */
  printed(): number;
  /** Draws the live rows again, at most 30 times a second. */
  changed(): void;
  /** Gives a view the alternate screen until it calls `done`. */
  full<Result>(
    open: (on: { changed(): void; done(result: Result): void }) => FullView,
  ): Promise<Result>;
  /** Restores the terminal while another program, such as an editor, uses it. */
  outside<Result>(work: () => Promise<Result>): Promise<Result>;
}
