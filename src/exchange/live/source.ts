import type { ChangeCounter } from "../../core/change-counter.ts";
import { readWhenThere } from "./read-when-there.ts";

/** Events or bytes that a reader gets at once. */
export interface Portion<Cursor> {
  /** Where the reader is after it. */
  readonly cursor: Cursor;
  /** True if more is there already. */
  readonly more: boolean;
  /** True if nothing will ever follow. */
  readonly isLast: boolean;
}

/** Reads for one reader. */
export interface Source<Cursor, Part extends Portion<Cursor>> {
  /** Returns what follows the cursor now. Error codes: `session_not_found`, `database_*`; it may then be called again. */
  read(cursor: Cursor): Promise<Part>;
  /** Resolves once more may follow the cursor, which the last read returned, or the signal is aborted. */
  changed(cursor: Cursor, signal: AbortSignal): Promise<void>;
}

/** Source of a reader that waits until a counter counts. */
export class CountedSource<Cursor, Part extends Portion<Cursor>> implements Source<Cursor, Part> {
  readonly #changes: ChangeCounter;
  readonly #read: (cursor: Cursor) => Promise<Part>;
  #known: number;

  constructor(changes: ChangeCounter, read: (cursor: Cursor) => Promise<Part>) {
    this.#changes = changes;
    this.#read = read;
    this.#known = changes.count;
  }

  async read(cursor: Cursor): Promise<Part> {
    const before = this.#changes.count;
    const part = await this.#read(cursor);
    this.#known = before;
    return part;
  }

  changed(_: Cursor, signal: AbortSignal): Promise<void> {
    return this.#changes.changed(this.#known, signal);
  }
}

/** Reads in turn, among all that catch up. */
export type InTurn<Part> = (read: () => Promise<Part | null>) => Promise<Part | null>;

/**
 * Reads what follows a portion, also after the database was away: in its turn if that one left more, else at once, after
 * `changed`. Null at the end; see `readWhenThere`.
 */
export function readAfter<Cursor, Part extends Portion<Cursor>>(
  source: Source<Cursor, Part>,
  { cursor, more }: Pick<Portion<Cursor>, "cursor" | "more">,
  { signal, inTurn }: { readonly signal: AbortSignal; readonly inTurn: InTurn<Part> },
): Promise<Part | null> {
  const read = async (): Promise<Part | null> => (signal.aborted ? null : source.read(cursor));
  return readWhenThere(more ? () => inTurn(read) : read, signal);
}
