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
  /**
   * Returns what follows the cursor: at once if the portion before it left more, else once there may be something new.
   * The first call never waits. Null once the signal is aborted. Error codes: `session_not_found`, `database_*`; it
   * may then be called again.
   */
  next(cursor: Cursor, signal: AbortSignal): Promise<Part | null>;
}

/** Makes the source of a reader that waits for a change before it reads again. */
export function sourceOf<Cursor, Part extends Portion<Cursor>>(
  changes: ChangeCounter,
  read: (cursor: Cursor) => Promise<Part>,
): Source<Cursor, Part> {
  let hasMore = true;
  let known = changes.count;
  return {
    next: async (cursor, signal) => {
      if (!hasMore) {
        await changes.changed(known, signal);
      }
      if (signal.aborted) {
        return null;
      }
      const before = changes.count;
      const part = await read(cursor);
      hasMore = part.more;
      known = before;
      return part;
    },
  };
}

/** Reads in turn, among all that catch up. */
export type InTurn<Part> = (read: () => Promise<Part | null>) => Promise<Part | null>;

/** The portion after another one, also after the database was away. Null at the end; see `readWhenThere`. */
export function nextPortion<Cursor, Part extends Portion<Cursor>>(
  source: Source<Cursor, Part>,
  { cursor, more }: Pick<Portion<Cursor>, "cursor" | "more">,
  { signal, inTurn }: { readonly signal: AbortSignal; readonly inTurn: InTurn<Part> },
): Promise<Part | null> {
  const next = (): Promise<Part | null> => source.next(cursor, signal);
  return readWhenThere(more ? () => inTurn(next) : next, signal);
}
